/** The operations on models and MCP servers, for the OpenAPI document. */
import { z } from 'zod';
import { MODEL_PROVIDERS } from '../definition/models-contract.ts';
import { modelBody, modelListQuery, modelName } from './models.ts';
import { LIST_PROBLEMS, type Operation, WRITE_PROBLEMS } from './openapi-operation.ts';

const text = z.string();
const model = z.object({
  name: text,
  provider: z.enum(MODEL_PROVIDERS),
  model: text,
  baseUrl: text.optional(),
  apiKeySecret: text.optional(),
  prices: z.object({ input: z.number(), output: z.number(), cachedInput: z.number().optional() }).optional(),
  default: z.boolean().describe('Whether steps that name no model take this one.'),
  updatedAt: z.iso.datetime().describe('ISO 8601.'),
});
const pageOf = (item: z.ZodType) =>
  z.object({ items: z.array(item), nextCursor: text.optional().describe('Give it as `cursor` for the next page.') });

export const modelOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/api/models',
    id: 'listModels',
    tag: 'models',
    summary: 'Lists models by name.',
    query: modelListQuery,
    answers: { 200: { text: 'A page of models.', schema: pageOf(model) } },
    problems: LIST_PROBLEMS,
  },
  {
    method: 'GET',
    path: '/api/models/:name',
    id: 'getModel',
    tag: 'models',
    summary: 'Reads a model.',
    parameters: { name: modelName },
    answers: { 200: { text: 'The model.', schema: model } },
    problems: ['not_found'],
  },
  {
    method: 'PUT',
    path: '/api/models/:name',
    id: 'putModel',
    tag: 'models',
    summary: 'Stores how runs reach a model.',
    description: 'The API key is a secret, which is named here. A slash in the name is written %2F.',
    parameters: { name: modelName },
    body: { schema: modelBody },
    answers: {
      201: { text: 'Stored; it is new.', schema: model },
      200: { text: 'Stored.', schema: model },
    },
    problems: [...WRITE_PROBLEMS, 'too_many', 'too_large'],
  },
  {
    method: 'DELETE',
    path: '/api/models/:name',
    id: 'deleteModel',
    tag: 'models',
    summary: 'Deletes a model.',
    parameters: { name: modelName },
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'not_found'],
  },
];
