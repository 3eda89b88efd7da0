/** `/api/models`: how runs reach models. API keys stay among the secrets; here they are only named. */
import type { Router } from 'express';
import { z } from 'zod';
import {
  deleteModel,
  getModel,
  listModels,
  type ModelSettings,
  putModel,
} from '../../../client/organization/models.ts';
import { MODEL_PROVIDERS } from '../../../contract/models.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { namedPage } from '../../http/named-page.ts';
import { principalOf } from '../../http/principal.ts';
import { resource } from '../../http/resource.ts';
import { checked, demandNoQuery, nameText, pageQuery, queryAs } from '../../validation/validation.ts';
import { secretName } from './secrets.ts';

export const modelName = nameText(100).regex(
  /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/,
  'Expected letters, digits and . _ : / -, such as gpt-5-mini.',
);
const price = z.number().min(0).max(1_000_000);
const web = z.url({ protocol: /^https?$/, error: 'Expected an http or https URL.' }).max(2_000);

const settings = {
  model: nameText(200).describe('As the provider calls it.'),
  apiKeySecret: secretName.optional().describe('The name of the secret that holds the API key.'),
  prices: z
    .strictObject({
      input: price,
      output: price,
      cachedInput: price.optional().describe('Of input that the provider had cached. Default: as input.'),
    })
    .optional()
    .describe("USD for a million tokens, for the runs' costs. Default: 0."),
  default: z
    .boolean()
    .optional()
    .describe('Whether steps that name no model take this one. An only model is it in any case.'),
};

export const modelBody = z.discriminatedUnion('provider', [
  z.strictObject({
    provider: z.enum(MODEL_PROVIDERS).exclude(['openai-compatible']),
    baseUrl: web.optional().describe("Where the API is. Default: the provider's own."),
    ...settings,
  }),
  z.strictObject({
    provider: z.literal('openai-compatible'),
    baseUrl: web.describe('Where the API is, up to the part before /chat/completions.'),
    ...settings,
  }),
]);

export const modelListQuery = z.strictObject(pageQuery());

export function modelRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/models', {
    GET: async (req, res) => {
      const page = queryAs(req, modelListQuery);
      const { organizationId } = principalOf(req);
      const models = await listModels(access, organizationId);
      res.json(namedPage(gateway, 'models', organizationId, models, page));
    },
  });

  resource(router, '/api/models/:name', {
    GET: async (req, res) => {
      demandNoQuery(req);
      const name = checked(modelName, req.params['name'], 'path');
      res.json(await getModel(access, principalOf(req).organizationId, name));
    },
    PUT: async (req, res) => {
      demandNoQuery(req);
      const name = checked(modelName, req.params['name'], 'path');
      const body = bodyAs(req, modelBody) as ModelSettings;
      const { created, model } = await putModel(access, principalOf(req).organizationId, name, body);
      res.status(created ? 201 : 200).json(model);
    },
    DELETE: async (req, res) => {
      demandNoQuery(req);
      await deleteModel(access, principalOf(req).organizationId, checked(modelName, req.params['name'], 'path'));
      res.status(204).end();
    },
  });
}
