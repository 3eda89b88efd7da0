/** The body of `POST /api/expressions/evaluate`, and its evaluation with the evaluator and the limits of runs. */

import { z } from 'zod';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { evaluate, parseExpression } from '../../template/expression.ts';
import { truthy } from '../../template/operators.ts';
import { parseTemplate, render } from '../../template/template.ts';
import { type Scope, TemplateError } from '../../template/types.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { parseJson } from '../validation/json-guard.ts';
import { anyJson, checked } from '../validation/validation.ts';

export const evaluateBody = z
  .strictObject({
    expression: z.string().optional().describe('An expression. Give this or `template`.'),
    template: anyJson.optional().describe('Any JSON value with templates in it. Give this or `expression`.'),
    context: z.record(z.string(), anyJson).default({}).describe('Its members are the roots.'),
    now: z
      .union([z.number().finite(), z.iso.datetime({ offset: true })])
      .optional()
      .describe('What `now` reads: milliseconds since 1970, or ISO 8601.'),
    as: z.enum(['value', 'condition']).default('value').describe('condition: true or false, as in `when`.'),
  })
  .refine(
    (body) => (body.expression === undefined) !== (body.template === undefined),
    'Give `expression` or `template`.',
  )
  .refine(
    (body) => body.as === 'value' || body.expression !== undefined,
    'Only an expression can be asked as a condition.',
  );

/**
 * Evaluates the body. `work` is a limit below that of any evaluation.
 * @throws HttpProblem `invalid_request`, those of parseJson, and the code of the TemplateError.
 */
export function evaluateText(bytes: Uint8Array, maxWork?: number): Json {
  const given = bytes.length === 0 ? {} : parseJson(bytes);
  const { expression, template, context, now, as } = checked(evaluateBody, given, 'body');
  const scope: Scope = { root: (name) => (Object.hasOwn(context, name) ? context[name] : undefined) };
  const options = {
    now: now === undefined ? Date.now() : new Date(now).getTime(),
    ...omitUndefined({ maxWork }),
  };
  try {
    if (expression === undefined) return render(parseTemplate(template ?? null), scope, options).value;
    const value = evaluate(parseExpression(expression), scope, options);
    return as === 'condition' ? truthy(value) : (value ?? null);
  } catch (error) {
    throw problemOf(error);
  }
}

function problemOf(error: unknown): unknown {
  if (!(error instanceof TemplateError)) return error;
  const { code, message, pointer, column, expected } = error;
  return new HttpProblem(code, message, {
    problems: [
      { pointer: pointer ?? '', code, message, ...(expected === undefined ? {} : { hint: `Expected ${expected}.` }) },
    ],
    more: omitUndefined({ column, expected }),
  });
}
