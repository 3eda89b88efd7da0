/** `POST /api/expressions/evaluate`: what an editor needs; the same evaluator with the same limits as in runs. */
import type { Router } from 'express';
import { z } from 'zod';
import { evaluate, parseExpression, truthy } from '../template/expression.ts';
import { parseTemplate, render } from '../template/template.ts';
import { type Scope, TemplateError } from '../template/types.ts';
import { bodyAs } from './body.ts';
import { anyJson, demandNoQuery } from './door.ts';
import { HttpProblem } from './problem.ts';
import { resource } from './resource.ts';

export const evaluateBody = z
  .strictObject({
    expression: z.string().optional().describe('What is evaluated: this,'),
    template: anyJson.optional().describe('or this: any JSON value with templates in it.'),
    context: z.record(z.string(), anyJson).default({}).describe('Its members are the roots.'),
    now: z
      .union([z.number().finite(), z.iso.datetime({ offset: true })])
      .optional()
      .describe('What `now` reads: milliseconds since 1970, or ISO 8601.'),
    as: z.enum(['value', 'condition']).default('value').describe('condition: true or false, as `when` would take it.'),
  })
  .refine(
    (body) => (body.expression === undefined) !== (body.template === undefined),
    'Give `expression` or `template`.',
  )
  .refine(
    (body) => body.as === 'value' || body.expression !== undefined,
    'Only an expression can be asked as a condition.',
  );

export function expressionRoutes(router: Router): void {
  resource(router, '/api/expressions/evaluate', {
    POST: (req, res) => {
      demandNoQuery(req);
      const { expression, template, context, now, as } = bodyAs(req, evaluateBody);
      const scope: Scope = { root: (name) => (Object.hasOwn(context, name) ? context[name] : undefined) };
      const options = { now: now === undefined ? Date.now() : new Date(now).getTime() };
      try {
        if (expression === undefined) {
          res.json({ value: render(parseTemplate(template ?? null), scope, options).value });
          return;
        }
        const value = evaluate(parseExpression(expression), scope, options);
        res.json({ value: as === 'condition' ? truthy(value) : (value ?? null) });
      } catch (error) {
        throw problemOf(error);
      }
    },
  });
}

function problemOf(error: unknown): unknown {
  if (!(error instanceof TemplateError)) return error;
  const { code, message, pointer, column, expected } = error;
  return new HttpProblem(code, message, {
    problems: [
      { pointer: pointer ?? '', code, message, ...(expected === undefined ? {} : { hint: `Expected ${expected}.` }) },
    ],
    more: { ...(column === undefined ? {} : { column }), ...(expected === undefined ? {} : { expected }) },
  });
}
