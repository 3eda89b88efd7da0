/** `POST /api/events`: an event, which starts event triggers and reaches listening runs (ARCHITECTURE.md §5). */

import { ulid } from 'ulid';
import { z } from 'zod';
import { publishEvent } from '../../../client/triggers/events.ts';
import { isCallbackName } from '../../../contract/callbacks.ts';
import { defined } from '../../../json/defined.ts';
import { requestKey } from '../../http/request-key.ts';
import { type Route, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, nameText } from '../../validation/validation.ts';

const eventBody = z.strictObject({
  name: nameText(200).describe('What triggers and listen steps ask for.'),
  key: z
    .union([nameText(500), z.number()])
    .transform(String)
    .optional()
    .describe(
      'What it is about, such as an order number: listen steps that name a `key` hear only events of that key.',
    ),
  data: anyJson.optional().describe('What they are given. Default: {}.'),
  id: nameText(200).optional().describe('Two events with one id are one event. Default: the header Idempotency-Key.'),
});

const published = z.object({
  id: z.string(),
  name: z.string(),
  key: z.string().optional(),
  executions: z
    .array(z.string())
    .optional()
    .describe('Runs that it has started; absent where no worker has answered yet.'),
  told: z.array(z.string()).optional().describe('Runs that listened, and were told.'),
});

export const eventRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/events',
    role: 'runner',
    idempotency: 'id',
    isAudited: false,
    id: 'publishEvent',
    tag: 'triggers',
    summary: 'Publishes an event: it fires event triggers, and reaches the runs that listen.',
    body: jsonOf(eventBody),
    answers: {
      202: { text: 'Accepted.', schema: published },
      200: { text: 'It had been published before.', schema: published },
    },
    problems: [...WRITE_PROBLEMS, 'idempotency_conflict'],
    handle: async ({ access, principal: { organizationId, id: by }, req, body }) => {
      const { name, key, data = {}, id = requestKey(req) ?? ulid() } = body;
      if (isCallbackName(name))
        throw new HttpProblem('invalid_name', 'Events of that name are callbacks: call the URL that the run gave out.');
      const at = new Date().toISOString();
      const event = { name, data, id, at, ...defined({ key, by }) };
      const { created, spread } = await publishEvent(access, organizationId, event);
      const answer = { id, name, ...defined({ key, executions: spread?.executions, told: spread?.told }) };
      return created ? { status: 202, body: answer } : { status: 200, body: answer };
    },
  }),
];
