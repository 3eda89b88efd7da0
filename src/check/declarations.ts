/** Checks reads and writes of `input.*` and `state.*` against their declarations, and the declarations themselves. */

import { didYouMean } from '../definition/document/names.ts';
import type { PayloadFormat, Problem } from '../definition/document/types.ts';
import { declarationStatus, declaredNames, formatProblems, formatWarnings } from '../definition/payload/format.ts';
import { isObject } from '../json/json.ts';
import { childPointer } from '../json/pointer.ts';
import type { StepKind } from '../steps/kind.ts';
import type { Analysis, Findings } from './analysis.ts';

/** Members of configs that are payload formats, in every kind. */
const FORMAT_MEMBERS = ['inputs', 'form', 'schema', 'responseSchema', 'outputSchema'] as const;

export function checkDeclarations(analysis: Analysis, findings: Findings): void {
  checkFormats(analysis, findings);
  checkStateDefaults(analysis, findings);
  checkInputReads(analysis, findings);
  checkStateUse(analysis, findings);
}

function checkFormats({ definition, steps }: Analysis, findings: Findings): void {
  if (definition.input !== undefined) inspectFormat(definition.input, '/input', findings);
  for (const { at, written } of steps.values()) {
    for (const member of FORMAT_MEMBERS) {
      const format = written.config?.[member];
      if (!isObject(format) || JSON.stringify(format).includes('{{')) continue;
      inspectFormat(format, `${at}/config/${member}`, findings);
    }
  }
}

function inspectFormat(format: PayloadFormat, at: string, { problems, warnings }: Findings): void {
  const withDocumentPointer = (found: Problem): Problem => ({ ...found, pointer: at + found.pointer });
  problems.push(...formatProblems(format).map(withDocumentPointer));
  warnings.push(...formatWarnings(format).map(withDocumentPointer));
}

function checkStateDefaults({ definition }: Analysis, { problems }: Findings): void {
  for (const [key, field] of Object.entries(definition.state ?? {})) {
    if (field.default === undefined || typeof field.default === field.type) continue;
    problems.add(
      childPointer('/state', key),
      'wrong_type',
      `The default of "${key}" must be a ${field.type}, got ${typeof field.default}.`,
    );
  }
}

function checkInputReads({ definition, expressionSites }: Analysis, { problems, warnings }: Findings): void {
  const { input } = definition;
  if (input === undefined || formatProblems(input).length > 0) return;
  for (const { references, at } of expressionSites) {
    for (const { root, path, column, pointer } of references) {
      const declared = root === 'input' && path.length > 0 ? declarationStatus(input, path) : 'open';
      const written = path.join('.');
      if (declared === 'parts') {
        const message =
          `Column ${column}: the input format declares parts of "${written}" by dotted names. Of an input that has ` +
          'them under these names, this is null.';
        const hint = 'Read the parts, or declare an object.';
        warnings.add(at + (pointer ?? ''), 'parts_of_input', message, hint);
      }
      if (declared !== 'undeclared') continue;
      const hint = didYouMean(String(path[0]), declaredNames(input));
      problems.add(
        at + (pointer ?? ''),
        'undeclared_input',
        `Column ${column}: the input format does not declare "${written}".`,
        hint,
      );
    }
  }
}

function checkStateUse({ definition, steps, expressionSites }: Analysis, { problems, warnings }: Findings): void {
  const declared = definition.state;
  const writes = new Set(Object.keys(declared ?? {}));
  const report = (at: string, key: string, words: string): void => {
    const hint = didYouMean(key, Object.keys(declared ?? {}));
    if (declared !== undefined) problems.add(at, 'undeclared_state', `${words}state does not declare "${key}".`, hint);
    else if (!writes.has(key))
      warnings.add(
        at,
        'undeclared_state',
        `${words}nothing declares or writes the state key "${key}".`,
        'Declare it in state.',
      );
  };
  const written = [...steps.values()].flatMap((step) => stateWrites(step).map(([key, at]) => ({ key, at })));
  for (const { key, at } of written) {
    if (declared !== undefined && !Object.hasOwn(declared, key)) report(at, key, 'The definition’s ');
    writes.add(key);
  }
  for (const { references, at, allowedRoots } of expressionSites) {
    if (allowedRoots !== undefined) continue;
    for (const { root, path, column, pointer } of references) {
      const key = path[0];
      if (root === 'state' && typeof key === 'string' && !(declared !== undefined && Object.hasOwn(declared, key)))
        report(at + (pointer ?? ''), key, `Column ${column}: `);
    }
  }
}

/** The state keys that a step writes, with their pointers: by saveToState, or by a `set` with target state. */
export function stateWrites({
  at,
  kind,
  written,
}: {
  at: string;
  kind: StepKind | undefined;
  written: Analysis['definition']['steps'][string];
}): [key: string, at: string][] {
  const { saveToState, config } = written;
  const writes: [string, string][] = [];
  if (typeof saveToState === 'string') writes.push([saveToState, `${at}/saveToState`]);
  else for (const key of Object.keys(saveToState ?? {})) writes.push([key, childPointer(`${at}/saveToState`, key)]);
  const assigned = kind?.assigns?.(config ?? {});
  if (assigned?.target === 'state')
    for (const { name } of assigned.names ?? []) if (!name.includes('{{')) writes.push([name, `${at}/config/values`]);
  return writes;
}
