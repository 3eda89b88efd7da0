/** Cases of other projects (../shared/cases/expressions) on our grammar and evaluator. */
import { expect, test } from 'vitest';
import type { Json } from '../../src/json/json.ts';
import { evaluate, parseExpression } from '../../src/template/expression.ts';
import { truthy } from '../../src/template/operators.ts';
import { objectScope } from '../../src/template/scope.ts';
import { parseTemplate, render } from '../../src/template/template.ts';
import { TemplateError } from '../../src/template/types.ts';
import { describeSharedCases, sharedCases } from '../support/shared-cases.ts';
import { NOW } from './evaluate.ts';

interface Case {
  readonly name: string;
  readonly kind?: 'expression' | 'condition' | 'template' | 'instructions' | 'rendered-condition' | 'loop-items';
  readonly expression?: string;
  readonly template?: Json;
  readonly context: { readonly [name: string]: Json };
  readonly expected?: Json;
  readonly expectedUndefined?: boolean;
  readonly expectedNonJson?: string;
  readonly error?: boolean;
}

/** What this project decides otherwise, and of which cases. language-cases.ts has the values that come out instead. */
interface Decision {
  readonly reason: string;
  readonly cases: readonly number[];
  readonly outcome: 'expression_syntax' | 'unknown_transform' | 'unresolved_reference' | 'nothing' | 'another value';
}

/** A value, nothing, or the code of a TemplateError. */
type Outcome = { readonly value: Json | undefined } | { readonly error: string };

/** What comes out here. */
function outcomeOf(given: Case): Outcome {
  const scope = objectScope(given.context);
  try {
    if (given.template !== undefined) {
      return { value: render(parseTemplate(given.template), scope, { now: NOW }).value };
    }
    const value = evaluate(parseExpression(given.expression ?? ''), scope, { now: NOW });
    return { value: given.kind?.endsWith('condition') ? truthy(value) : value };
  } catch (error) {
    if (error instanceof TemplateError) return { error: error.code };
    throw error;
  }
}

/** Whether an outcome is what the case states; a template without a value is null here. */
function meets(outcome: Outcome, given: Case): boolean {
  if (given.error === true) return 'error' in outcome;
  if ('error' in outcome) return false;
  if (given.expectedUndefined === true) return (outcome.value ?? undefined) === undefined;
  if (given.expectedNonJson !== undefined) return outcome.value === null;
  return JSON.stringify(outcome.value) === JSON.stringify(given.expected);
}

const SYNTAX = 'expression_syntax';
const OTHER = 'another value';

const DECIDED_OTHERWISE: { readonly [file: string]: readonly Decision[] } = {
  jexl: [
    { reason: 'the host has no functions here but callback', cases: [13, 14, 141], outcome: SYNTAX },
    { reason: 'the table of transforms is closed', cases: [15, 16, 54, 93, 94], outcome: 'unknown_transform' },
    { reason: 'the case registers a concat of its own', cases: [63], outcome: OTHER },
    { reason: 'only the released version refuses quoted keys', cases: [86], outcome: OTHER },
    { reason: 'the length of an array is its length (LANGUAGE.md §4)', cases: [100], outcome: OTHER },
  ],
  tale: [
    { reason: 'documented there as supported, and supported here', cases: [46], outcome: OTHER },
    { reason: 'a template says what is missing', cases: [52, 53, 54, 56], outcome: 'unresolved_reference' },
    { reason: 'data is never evaluated, nor refused, nor a bad expression', cases: [75, 205], outcome: OTHER },
    { reason: '"!" is negation, also at the beginning', cases: [77, 88, 89], outcome: OTHER },
    {
      reason: 'Mustache’s sections, partials and delimiters are refused',
      cases: [78, 79, 80, 83, 87],
      outcome: SYNTAX,
    },
    { reason: 'a template ends where its expression ends', cases: [84, 85, 86], outcome: OTHER },
    { reason: 'the length of an array is its length (LANGUAGE.md §4)', cases: [110], outcome: OTHER },
    { reason: 'values keep their type, and objects are compared by content', cases: [127, 128], outcome: OTHER },
    { reason: 'defects of filter there', cases: [139, 140, 142], outcome: OTHER },
    { reason: 'own properties only, and never a function', cases: [187, 188, 192, 193, 195, 196], outcome: 'nothing' },
    { reason: 'values are never put into expressions as text', cases: [197, 199], outcome: OTHER },
    { reason: 'a path is written without braces', cases: [198, 202], outcome: SYNTAX },
  ],
};

describeSharedCases.each(Object.entries(DECIDED_OTHERWISE))('the cases of %s', (file, decisions) => {
  const cases = sharedCases<Case>(`expressions/${file}.json`).map((given, index) => ({ given, index }));

  test.each(cases)('$index: $given.name', ({ given, index }) => {
    const outcome = outcomeOf(given);
    const decision = decisions.find((one) => one.cases.includes(index));
    expect(meets(outcome, given), JSON.stringify({ given, outcome })).toBe(decision === undefined);
    if (decision === undefined) return;
    const { value } = 'error' in outcome ? { value: undefined } : outcome;
    const kind = 'error' in outcome ? outcome.error : value === undefined ? 'nothing' : OTHER;
    expect(kind, decision.reason).toBe(decision.outcome);
  });
});
