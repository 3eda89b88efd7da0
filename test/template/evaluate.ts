/** Short forms for the tests of this room. */
import type { Json } from '../../src/json/json.ts';
import { evaluate, parseExpression } from '../../src/template/expression.ts';
import { objectScope } from '../../src/template/scope.ts';
import { parseTemplate, render, type TemplateOptions } from '../../src/template/template.ts';
import { type Rendered, TemplateError } from '../../src/template/types.ts';

/** 2026-01-15T10:30:00Z, the clock of the tests. */
export const NOW = Date.UTC(2026, 0, 15, 10, 30);

export function value(source: string, context: { [name: string]: unknown } = {}): Json | undefined {
  return evaluate(parseExpression(source), objectScope(context), { now: NOW });
}

export function rendered(
  template: Json,
  context: { [name: string]: unknown } = {},
  options?: TemplateOptions,
): Rendered {
  return render(parseTemplate(template, options), objectScope(context), { now: NOW });
}

/** The TemplateError that `act` throws. */
export function errorOf(act: () => unknown): TemplateError {
  try {
    act();
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}
