/** `POST /api/expressions/evaluate`: evaluates an expression as a run would, for editors. */
import { z } from 'zod';
import { anything, named } from '../../answers/named.ts';
import { jsonBodyBytes } from '../../http/body.ts';
import { route } from '../../http/route.ts';
import { rawBodyOf } from '../../http/route-body.ts';
import { offloadEvaluation } from '../../input/offload.ts';
import { evaluateBody } from '../../threads/evaluation.ts';

const evaluated = named('Evaluated', z.object({ value: anything }));

export const expressionRoutes = [
  route({
    method: 'POST',
    path: '/api/expressions/evaluate',
    role: 'viewer',
    idempotency: 'none',
    asksTemporal: false,
    id: 'evaluate',
    summary: 'Evaluates an expression or a template, as a run would.',
    description: 'Give `expression` or `template`. The members of `context` are the roots.',
    body: rawBodyOf(evaluateBody),
    answers: { 200: { text: 'Its value.', schema: evaluated } },
    problems: [
      'expression_syntax',
      'unknown_transform',
      'expression_type',
      'expression_limit',
      'takes_too_long',
      'gateway_busy',
      'unresolved_reference',
      'secret_not_allowed',
    ],
    handle: async ({ gateway, principal: { organizationId }, req }) => {
      // The thread answers the value as JSON already.
      const value = await offloadEvaluation(gateway, organizationId, jsonBodyBytes(req));
      return { status: 200, type: 'json', text: `{"value":${value}}` };
    },
  }),
];
