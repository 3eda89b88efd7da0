/**
 * Legal expressions that are probably mistakes: `&&` and `||` mixed without parentheses, braces of templates in
 * expressions, and braces in values that are not rendered.
 */

import { MAX_ATTRIBUTE_VALUES } from '../contract/search-attributes.ts';
import type { Json } from '../json/json.ts';
import { childPointer } from '../json/pointer.ts';
import { bracedStrings, mixedLogic } from '../template/lint.ts';
import type { Analysis, Findings } from './analysis.ts';

export function checkLint({ definition, expressionSites }: Analysis, { warnings }: Findings): void {
  checkBracedValues(definition.config?.variables ?? {}, '/config/variables', warnings);
  checkSearchableFields(definition, warnings);
  for (const site of expressionSites) {
    for (const { expression, at } of site.expressions) {
      for (const column of mixedLogic(expression)) {
        warnings.add(
          at,
          'mixed_logic',
          `Column ${column}: && and || have the same precedence, and are evaluated from left to right.`,
          'Group the operands with parentheses.',
        );
      }
      for (const column of bracedStrings(expression)) {
        warnings.add(
          at,
          'template_in_expression',
          `Column ${column}: this text is not a template, and its braces stay as they are.`,
          'Join texts with + instead.',
        );
      }
    }
  }
}

function checkSearchableFields({ state = {} }: Analysis['definition'], warnings: Findings['warnings']): void {
  const names = Object.entries(state).flatMap(([name, field]) => (field.searchable === true ? [name] : []));
  if (names.length <= MAX_ATTRIBUTE_VALUES) return;
  warnings.add(
    '/state',
    'too_many_searchable',
    `${names.length} fields are searchable; lists search only the first ${MAX_ATTRIBUTE_VALUES} values of a run.`,
    'Remove searchable from fields that no list filters by, or put the other fields first.',
  );
}

/** Variables are not rendered: a template among them stays a text with braces. */
function checkBracedValues(value: Json, at: string, warnings: Findings['warnings']): void {
  if (typeof value === 'string') {
    if (!/\{\{.*\}\}/s.test(value)) return;
    warnings.add(
      at,
      'template_in_value',
      'Variables are not rendered: the braces in this text stay as they are.',
      'Write the template where it is used, or set the variable in a step of kind set.',
    );
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) checkBracedValues(member, childPointer(at, key), warnings);
}
