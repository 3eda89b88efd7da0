/** `POST /api/expressions/evaluate`: what an editor needs. */
import type { Router } from 'express';
import { jsonBytes } from './body.ts';
import type { Gateway } from './context.ts';
import { demandNoQuery } from './door.ts';
import { evaluateIn } from './offload/doors.ts';
import { principalOf } from './principal.ts';
import { resource } from './resource.ts';

export function expressionRoutes(router: Router, gateway: Gateway): void {
  resource(router, '/api/expressions/evaluate', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const value = await evaluateIn(gateway, principalOf(req).organizationId, jsonBytes(req));
      res.type('json').send(`{"value":${value}}`);
    },
  });
}
