/** `POST /api/events`: an event, which starts event triggers and reaches listening runs (ARCHITECTURE.md §5). */

import type { Router } from 'express';
import { ulid } from 'ulid';
import { z } from 'zod';
import { publishEvent } from '../../../client/triggers/events.ts';
import { isCallbackName } from '../../../contract/callbacks.ts';
import { defined } from '../../../json/defined.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { requestKey } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import { anyJson, demandNoQuery, nameText } from '../../validation/validation.ts';

export const eventBody = z.strictObject({
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

export function eventRoutes(router: Router, gateway: Gateway): void {
  resource(router, '/api/events', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const { name, key, data = {}, id = requestKey(req) ?? ulid() } = bodyAs(req, eventBody);
      if (isCallbackName(name))
        throw new HttpProblem('invalid_name', 'Events of that name are callbacks: call the URL that the run gave out.');
      const at = new Date().toISOString();
      const { organizationId, id: by } = principalOf(req);
      const { created, spread } = await publishEvent(gateway.access, organizationId, {
        name,
        ...defined({ key }),
        data,
        id,
        at,
        ...defined({ by }),
      });
      res.status(created ? 202 : 200).json({
        id,
        name,
        ...defined({ key }),
        ...(spread === undefined ? {} : { executions: spread.executions, told: spread.told }),
      });
    },
  });
}
