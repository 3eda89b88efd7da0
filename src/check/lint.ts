/**
 * What is legal and probably not meant: `&&` and `||` mixed without parentheses, braces of templates in expressions and in
 * values that are taken as they are.
 */

import { MAX_ATTRIBUTE_VALUES } from '../contract/search-attributes.ts';
import { below } from '../definition/document/pointer.ts';
import type { Json } from '../json/json.ts';
import { bracedStrings, mixedLogic } from '../template/lint.ts';
import { type Findings, problem, type Subject } from './subject.ts';

export function checkLint({ definition, readings }: Subject, { warnings }: Findings): void {
  bracedValues(definition.config?.variables ?? {}, '/config/variables', warnings);
  searchableFields(definition, warnings);
  for (const reading of readings) {
    for (const { expression, at } of reading.expressions) {
      for (const column of mixedLogic(expression)) {
        warnings.push(
          problem(
            at,
            'mixed_logic',
            `Column ${column}: && and || bind alike here, from left to right.`,
            'Say with parentheses what belongs together.',
          ),
        );
      }
      for (const column of bracedStrings(expression)) {
        warnings.push(
          problem(
            at,
            'template_in_expression',
            `Column ${column}: the braces in this text stay as they are; nothing is put into it.`,
            'Join texts with +.',
          ),
        );
      }
    }
  }
}

function searchableFields({ state = {} }: Subject['definition'], warnings: Findings['warnings']): void {
  const names = Object.entries(state).flatMap(([name, field]) => (field.searchable === true ? [name] : []));
  if (names.length <= MAX_ATTRIBUTE_VALUES) return;
  warnings.push(
    problem(
      '/state',
      'too_many_searchable',
      `${names.length} fields are searchable, and lists find a run by ${MAX_ATTRIBUTE_VALUES} of its values at most: of a run with more, the first as written here.`,
      'Write searchable: false at those that no list is filtered by, or write the others first.',
    ),
  );
}

/** Variables begin as what is written: a template among them would reach its place as a text with braces. */
function bracedValues(value: Json, at: string, warnings: Findings['warnings']): void {
  if (typeof value === 'string') {
    if (!/\{\{.*\}\}/s.test(value)) return;
    warnings.push(
      problem(
        at,
        'template_in_value',
        'Variables begin as they are written: the braces in this text stay, and nothing is put into it.',
        'Write the template where it is used, or set the variable by a step of kind set.',
      ),
    );
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) bracedValues(member, below(at, key), warnings);
}
