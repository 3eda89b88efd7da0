/** `POST /api/events`: an event, which starts event triggers and reaches listening runs (ARCHITECTURE.md §5). */

import { ulid } from 'ulid';
import { z } from 'zod';
import { publishEvent } from '../../../client/triggers/events.ts';
import { isCallbackName } from '../../../contract/run/callbacks.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { idempotencyKeyOf } from '../../http/idempotency-key.ts';
import { route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, nameText } from '../../validation/validation.ts';

const eventBody = z.strictObject({
  name: nameText(200).describe('The event name in triggers and listen steps.'),
  key: z
    .union([nameText(500), z.number()])
    .transform(String)
    .optional()
    .describe('The subject, such as an order number. Listen steps with a `key` receive only events with that key.'),
  data: anyJson.optional().describe('The payload of the event. Default: {}.'),
  id: nameText(200).optional().describe('Events with the same id are one event. Default: the header Idempotency-Key.'),
});

const published = z.object({
  id: z.string(),
  name: z.string(),
  key: z.string().optional(),
  executions: z.array(z.string()).optional().describe('Runs that it started. Absent if no worker has answered yet.'),
  told: z.array(z.string()).optional().describe('Listening runs that received it.'),
});

export const eventRoutes = [
  route({
    method: 'POST',
    path: '/api/events',
    role: 'runner',
    idempotency: 'id',
    isAudited: false,
    id: 'publishEvent',
    summary: 'Publishes an event: it fires event triggers, and reaches the runs that listen.',
    description:
      'The answer names the runs that it started, and the runs that listened and received it. An event with an ' +
      '`id` is published once, however often it is sent.',
    body: jsonOf(eventBody),
    answers: {
      202: { text: 'Accepted.', schema: published },
      200: { text: 'The event was published before.', schema: published },
    },
    problems: [...WRITE_PROBLEMS, 'idempotency_conflict'],
    handle: async ({ access, principal: { organizationId, id: by }, req, body }) => {
      const { name, key, data = {}, id = idempotencyKeyOf(req) ?? ulid() } = body;
      if (isCallbackName(name))
        throw new HttpProblem('invalid_name', 'Events of that name are callbacks: call the URL that the run gave out.');
      const at = new Date().toISOString();
      const event = { name, data, id, at, ...omitUndefined({ key, by }) };
      const { created, spread } = await publishEvent(access, organizationId, event);
      const answer = { id, name, ...omitUndefined({ key, executions: spread?.executions, told: spread?.told }) };
      return created ? { status: 202, body: answer } : { status: 200, body: answer };
    },
  }),
];
