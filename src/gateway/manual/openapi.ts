/** `/openapi.json`: the API for clients and tools. */
import type { Router } from 'express';
import { resource } from '../http/resource.ts';
import { openApiDocument } from './openapi-document.ts';

/** As in package.json; a test compares them. */
export const API_VERSION = '0.1.0';

export function openApiRoutes(router: Router): void {
  resource(router, '/openapi.json', {
    GET: (_req, res) => {
      res.json(openApiDocument(API_VERSION));
    },
  });
}
