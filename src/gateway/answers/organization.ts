/** Schemas of answers about what an organization keeps. Later versions may add members to any of them. */
import { z } from 'zod';
import { LIMIT_SCOPES } from '../../contract/limits/limits.ts';
import { MODEL_PROVIDERS } from '../../contract/organization/models.ts';
import { ROLES } from '../../contract/organization/organization.ts';
import { OVERFLOWS } from '../../definition/document/types.ts';
import { named, pageOf, time } from './named.ts';

export const secret = named(
  'Secret',
  z.object({
    name: z.string(),
    allowedHosts: z.array(z.string()).optional(),
    allowedWorkflows: z.array(z.string()).optional(),
    updatedAt: time,
  }),
);

const missing = {
  missingSecrets: z
    .array(z.string())
    .optional()
    .describe('After PUT: secrets that it names and that are not stored. Absent where all are.'),
};

export const modelView = named(
  'Model',
  z.object({
    ...missing,
    name: z.string(),
    provider: z.enum(MODEL_PROVIDERS),
    model: z.string(),
    baseUrl: z.string().optional(),
    apiKeySecret: z.string().optional(),
    prices: z.object({ input: z.number(), output: z.number(), cachedInput: z.number().optional() }).optional(),
    default: z.boolean().describe('Whether steps without a model use this one.'),
    updatedAt: time,
  }),
);

export const mcpServer = named(
  'McpServer',
  z.object({
    ...missing,
    name: z.string(),
    url: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional().describe('They hold secrets by name.'),
    command: z.string().optional(),
    args: z.array(z.string()).optional(),
    updatedAt: time,
  }),
);

export const toolPage = z.object({
  ...pageOf(
    z.object({
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      inputSchema: z.record(z.string(), z.unknown()).describe('JSON Schema.'),
    }),
  ).shape,
  listedAt: z.iso.datetime().describe('When the server was asked.'),
});

const limit = { limit: z.int(), overflow: z.enum(OVERFLOWS) };
export const limitEntry = z.object({ ...limit, updatedAt: time });
export const limits = z.object({
  own: z.object(Object.fromEntries(LIMIT_SCOPES.map((scope) => [scope, limitEntry.optional()]))),
  effective: z.object(
    Object.fromEntries([...LIMIT_SCOPES, 'global'].map((scope) => [scope, z.object(limit).optional()])),
  ),
});

export const apiKey = named(
  'ApiKey',
  z.object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    user: z.string().describe('The person who uses it.'),
    roles: z.array(z.string()),
    groups: z.array(z.string()),
    emails: z.array(z.string()).describe('Addresses of the person, who has those of all of their keys.'),
    prefix: z.string().describe('The beginning of the key, which identifies it in lists.'),
    createdAt: time,
    createdBy: z.string().optional(),
    lastUsedAt: time.optional().describe('When the key was last used. Up to ten minutes late.'),
  }),
);

export const madeKey = apiKey.extend({ key: z.string().describe('The key. Only this answer shows it.') });

/** A change that the audit recorded. */
export const change = named(
  'AuditEntry',
  z.object({
    id: z.string(),
    at: time,
    by: z.string().optional().describe('The person. Absent while the gateway has no keys.'),
    keyId: z.string().optional(),
    action: z.string().describe('Method and route.'),
    target: z.record(z.string(), z.unknown()).describe('Parameters of the route, and names from the answer.'),
    requestId: z.string().optional().describe('X-Request-Id of the answer.'),
    outcome: z.enum(['done', 'refused', 'unknown']),
    status: z.int().optional().describe('The status of the answer.'),
  }),
);
