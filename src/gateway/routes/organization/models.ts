/** `/api/models`: how runs reach models. API keys are stored as secrets; models only name them. */
import { z } from 'zod';
import {
  deleteModel,
  getModel,
  listModels,
  type ModelSettings,
  putModel,
} from '../../../client/organization/models.ts';
import { missingSecrets } from '../../../client/organization/secrets.ts';
import { MODEL_PROVIDERS } from '../../../contract/organization/models.ts';
import { modelView } from '../../answers/organization.ts';
import { nameText } from '../../validation/validation.ts';
import { namedCollection } from './named-collection.ts';
import { secretName } from './secrets.ts';

const modelName = nameText(100).regex(
  /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/,
  'Expected letters, digits and . _ : / -, such as gpt-5-mini.',
);
const price = z.number().min(0).max(1_000_000);
const web = z.url({ protocol: /^https?$/, error: 'Expected an http or https URL.' }).max(2_000);

const settings = {
  model: nameText(200).describe("The provider's name of the model."),
  apiKeySecret: secretName.optional().describe('The name of the secret that holds the API key.'),
  prices: z
    .strictObject({
      input: price,
      output: price,
      cachedInput: price.optional().describe('For input that the provider had cached. Default: the price of input.'),
    })
    .optional()
    .describe("USD for a million tokens, for the runs' costs. Default: 0."),
  default: z
    .boolean()
    .optional()
    .describe('Whether steps without a model use this one. A single model is always the default.'),
};

const modelBody = z.discriminatedUnion('provider', [
  z.strictObject({
    provider: z.enum(MODEL_PROVIDERS).exclude(['openai-compatible']),
    baseUrl: web.optional().describe("The address of the API. Default: the provider's own."),
    ...settings,
  }),
  z.strictObject({
    provider: z.literal('openai-compatible'),
    baseUrl: web.describe('The address of the API, up to the part before /chat/completions.'),
    ...settings,
  }),
]);

export const modelRoutes = namedCollection({
  collection: 'models',
  operation: { one: 'Model', many: 'Models' },
  noun: { one: 'model', many: 'models' },
  roles: { read: 'viewer', write: 'editor' },
  name: modelName,
  item: modelView,
  missing: 'not_found',
  list: {
    summary: 'Lists models by name.',
    description: 'A key for the provider is shown as the name of its secret.',
    all: listModels,
  },
  get: {
    summary: 'Reads a model.',
    description: 'As it was stored. A key for the provider is shown as the name of its secret.',
    read: getModel,
  },
  put: {
    summary: 'Stores how runs reach a model.',
    description: 'The body names the secret that holds the API key. A slash in the name is written %2F.',
    body: modelBody,
    problems: ['too_many', 'too_large'],
    write: async (_gateway, access, org, name, body) => {
      const { created, model } = await putModel(access, org, name, body as ModelSettings);
      const { apiKeySecret } = model;
      const missing = await missingSecrets(access, org, apiKeySecret === undefined ? [] : [apiKeySecret]);
      return { created, item: { ...model, ...(missing.length === 0 ? {} : { missingSecrets: missing }) } };
    },
  },
  remove: {
    summary: 'Deletes a model.',
    description: 'Steps that name it fail from then on (`model_not_found`).',
    remove: deleteModel,
  },
});
