/** `POST /api/expressions/evaluate`: what an editor needs. */
import type { Router } from 'express';
import { jsonBodyBytes } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { resource } from '../../http/resource.ts';
import { evaluateIn } from '../../input/in-threads.ts';
import { demandNoQuery } from '../../validation/validation.ts';

export function expressionRoutes(router: Router, gateway: Gateway): void {
  resource(router, '/api/expressions/evaluate', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const value = await evaluateIn(gateway, principalOf(req).organizationId, jsonBodyBytes(req));
      res.type('json').send(`{"value":${value}}`);
    },
  });
}
