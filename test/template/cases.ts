/** The cases of ../shared/cases/expressions, or, in a checkout on its own, their copy. */

import { existsSync, readFileSync } from 'node:fs';
import type { Json } from '../../src/json/json.ts';
import { evaluate, parseExpression } from '../../src/template/expression.ts';
import { truthy } from '../../src/template/operators.ts';
import { objectScope } from '../../src/template/scope.ts';
import { parseTemplate, render } from '../../src/template/template.ts';
import { TemplateError } from '../../src/template/types.ts';

export interface Case {
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

/** A value, nothing, or the code of a TemplateError. */
export type Outcome = { readonly value: Json | undefined } | { readonly error: string };

/** What this project decides otherwise than the case, and why. */
export interface Decision {
  readonly reason: string;
  readonly outcome: Outcome;
}

/** 2026-01-15T10:30:00Z, the clock of the cases. */
export const NOW = Date.UTC(2026, 0, 15, 10, 30);

export function loadCases(file: string): readonly Case[] {
  const shared = new URL(`../../../shared/cases/expressions/${file}`, import.meta.url);
  const copy = new URL(`../cases/expressions/${file}`, import.meta.url);
  return JSON.parse(readFileSync(existsSync(shared) ? shared : copy, 'utf8')) as Case[];
}

/** What comes out here. */
export function outcomeOf(given: Case): Outcome {
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
export function meets(outcome: Outcome, given: Case): boolean {
  if (given.error === true) return 'error' in outcome;
  if ('error' in outcome) return false;
  if (given.expectedUndefined === true) return (outcome.value ?? undefined) === undefined;
  if (given.expectedNonJson !== undefined) return outcome.value === null;
  return JSON.stringify(outcome.value) === JSON.stringify(given.expected);
}
