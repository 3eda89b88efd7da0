/** The OpenAPI 3.1 document, made from the routes. */

import { z } from 'zod';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { namedSchemas } from '../answers/named.ts';
import { problem } from '../answers/problem.ts';
import type { Route, RouteAnswer } from '../http/route.ts';
import { SESSION_COOKIE } from '../http/session.ts';
import { BODY_PROBLEMS, PROBLEM_CODES, type ProblemCode } from '../validation/problem-codes.ts';
import { jsonSchemaOf } from './language-schema.ts';
import { objectOf } from './schema-tables.ts';

const JSON_MEDIA = 'application/json';
/** The names of the security schemes. */
const KEY = 'apiKey';
const SESSION = 'session';
const DIALECT = 'draft-2020-12';

/** What every route may answer. */
const COMMON_PROBLEMS: readonly ProblemCode[] = [
  'rate_limited',
  'invalid_request',
  'forbidden_key',
  'request_timeout',
  'headers_too_large',
  'expectation_failed',
  'internal_error',
];
/** What every route that stores its answers may answer. */
const IDEMPOTENCY_PROBLEMS: readonly ProblemCode[] = ['idempotency_conflict', 'request_in_flight'];
const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': 'A request that repeats the key is the same request, and gets the same answer.',
} as const;
/** What every route that asks Temporal may answer. */
const TEMPORAL_PROBLEMS: readonly ProblemCode[] = ['temporal_unreachable', 'temporal_busy', 'payload_unreadable'];
/** What every route may answer that changes something. */
const BACKPRESSURE_PROBLEMS: readonly ProblemCode[] = ['gateway_busy'];
/** What every route may answer, except routes that can be called from anywhere. */
const GUARD_PROBLEMS: readonly ProblemCode[] = [
  'host_not_allowed',
  'origin_not_allowed',
  'proxy_without_keys',
  'key_required',
  'key_invalid',
  'required_header_missing',
  'role_required',
];

/** As in package.json; a test compares them. */
export const API_VERSION = '0.4.0';

/** What the operations of a tag are about. */
const TAGS: { readonly [tag: string]: string } = {
  workflows: 'Definitions: stored, checked, drawn, with their versions and proposals.',
  executions: 'Runs: started, listed, followed, decided, ended, retried and forked.',
  runs: 'Runs in the form of alloy (004).',
  triggers: 'What starts runs: schedules, webhooks, events, and starts by hand or from public pages.',
  webhooks: 'The addresses to which other systems deliver.',
  recordings: 'Tool calls of an agent that become a workflow.',
  expressions: 'Expressions and templates, evaluated without a run.',
  limits: 'How many runs are active at the same time.',
  secrets: 'Values that only activities see.',
  models: 'The models that steps call, and the MCP servers whose tools they use.',
  inbox: 'Messages of runs to people.',
  access: 'Keys, sessions, the audit, and the encryption of payloads.',
  gateway: 'The gateway itself: probes, metrics, manual, console and MCP.',
};

const made = new WeakMap<readonly Route[], JsonObject>();

/** The document of these routes. Made once. */
export function openApiDocument(routes: readonly Route[]): JsonObject {
  const document = made.get(routes) ?? makeDocument(routes);
  made.set(routes, document);
  return document;
}

/** The codes that a route may answer, by status. */
function problemsOf(route: Route): ReadonlyMap<number, readonly ProblemCode[]> {
  const { problems = [], body, callers, asksTemporal, writes, idempotency } = route;
  const codes = new Set([
    ...COMMON_PROBLEMS,
    ...(callers === 'anywhere' ? [] : GUARD_PROBLEMS),
    ...(asksTemporal ? TEMPORAL_PROBLEMS : []),
    ...(writes ? BACKPRESSURE_PROBLEMS : []),
    ...(body === undefined ? [] : BODY_PROBLEMS),
    ...(idempotency === 'answer' ? IDEMPOTENCY_PROBLEMS : []),
    ...problems,
  ]);
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = PROBLEM_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

function makeDocument(routes: readonly Route[]): JsonObject {
  const names = z.registry<{ id: string }>();
  for (const [schema, id] of namedSchemas()) names.add(schema, { id });
  const taken = new Set(namedSchemas().values());
  const name = (schema: z.ZodType | undefined, ...ids: string[]): void => {
    if (schema === undefined || !isShape(schema) || names.has(schema)) return;
    const id = ids.find((one) => !taken.has(one));
    if (id === undefined) throw new Error(`Two schemas are called ${ids[0]}.`);
    taken.add(id);
    names.add(schema, { id });
  };
  for (const { id, body, answers } of routes) {
    name(body?.schema, `${capital(id)}Request`);
    for (const [status, { schema }] of Object.entries(answers))
      name(schema, `${capital(id)}Answer`, `${capital(id)}Answer${status}`);
  }
  const { schemas } = z.toJSONSchema(names, {
    target: DIALECT,
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
  });
  const schemaOf = (schema: z.ZodType): JsonObject => {
    const id = names.get(schema)?.id;
    return id === undefined ? jsonSchemaOf(schema, DIALECT) : { $ref: `#/components/schemas/${id}` };
  };
  const paths: { [path: string]: JsonObject } = {};
  for (const route of routes) {
    const path = documentedPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationObject(route, schemaOf) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version: API_VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operators of this gateway' },
      description:
        'Workflows that are data, run on Temporal. The manual is at /docs. Without API keys the gateway answers ' +
        'to names of its own machine only. ' +
        'Unknown parameters and members are refused. Errors are application/problem+json with a stable `code`; ' +
        'every answer has an X-Request-Id.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name, ...omitUndefined({ description: TAGS[name] }) })),
    paths,
    // Without keys, no key is needed.
    security: [{ [KEY]: [] }, { [SESSION]: [] }, {}],
    components: {
      schemas: referencedSchemas(
        paths,
        Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, plain(schema)])),
      ),
      securitySchemes: {
        [KEY]: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key. `x-role` gives the least role; each role may do what the roles before it may: ' +
            'viewer, runner, approver, editor, admin.',
        },
        [SESSION]: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: 'For pages of the gateway; with `X-Signalbox-Console: 1` where something is changed.',
        },
      },
    },
  };
}

function operationObject(route: Route, schemaOf: (schema: z.ZodType) => JsonObject): JsonObject {
  const { id, summary, description = '', body, answers: successes, role } = route;
  const responses: { [status: string]: Json } = {};
  for (const [status, answer] of Object.entries(successes)) responses[status] = response(answer, schemaOf);
  for (const [status, codes] of problemsOf(route)) {
    const own = objectOf(responses[String(status)]);
    const codeList = codes.map((code) => `\`${code}\``).join(', ');
    responses[String(status)] = {
      description: typeof own['description'] === 'string' ? `${own['description']} Or ${codeList}` : codeList,
      content: { ...objectOf(own['content']), 'application/problem+json': { schema: schemaOf(problem) } },
      'x-codes': [...codes],
    };
  }
  return {
    operationId: id,
    tags: [tagOf(route)],
    summary,
    description: `${description} ${role === 'public' ? 'Needs no API key.' : `Needs the role ${role}.`}`.trimStart(),
    ...securityOf(route),
    parameters: parametersOf(route),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.isOptional !== true,
            content: Object.fromEntries(
              (body.media ?? [JSON_MEDIA]).map((media) => [media, { schema: schemaOf(body.schema) }]),
            ),
          },
        }),
    responses,
  };
}

function tagOf({ id, tag }: Route): string {
  if (tag !== undefined) return tag;
  throw new Error(`The route ${id} has no tag: route-table.ts gives it one.`);
}

/** The least role of the key. Routes with a signature, a token or a key in the address need none. */
function securityOf({ role }: Route): JsonObject {
  return role === 'public' ? { security: [] } : { 'x-role': role };
}

function response(
  { text, schema, media = [JSON_MEDIA], headers = {} }: RouteAnswer,
  schemaOf: (schema: z.ZodType) => JsonObject,
): Json {
  return {
    description: text,
    ...(schema === undefined
      ? {}
      : { content: Object.fromEntries(media.map((name) => [name, { schema: schemaOf(schema) }])) }),
    ...(Object.keys(headers).length === 0
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
          ),
        }),
  };
}

/** The parameters of a route in OpenAPI's form. */
function parametersOf({ idempotency, params, query, ...route }: Route): Json[] {
  const headers = { ...(idempotency === 'none' ? {} : IDEMPOTENCY_HEADER), ...route.headers };
  const written = query === undefined ? {} : jsonSchemaOf(query, DIALECT);
  const members = objectOf(written['properties']);
  const required = Array.isArray(written['required']) ? written['required'] : [];
  return [
    ...Object.entries(params).map(([name, schema]) => ({
      name,
      in: 'path',
      required: true,
      schema: jsonSchemaOf(schema, DIALECT),
    })),
    ...Object.entries(members)
      .flatMap(([name, schema]) => queryParameters(name, objectOf(schema)))
      .map((parameter) => (required.includes(parameter['name'] ?? '') ? { ...parameter, required: true } : parameter)),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      description,
      schema: { type: 'string', minLength: 1 },
    })),
  ];
}

/** `started=` and `started[gte]=` are separate parameters; a map is one parameter of the style `state[key]=value`. */
function queryParameters(name: string, schema: JsonObject): JsonObject[] {
  const { description, ...rest } = schema;
  const descriptionMember = typeof description === 'string' ? { description } : {};
  const variants = Array.isArray(rest['anyOf']) ? rest['anyOf'].map(objectOf) : [rest];
  const list = variants.find(({ type }) => type === 'array');
  if (list !== undefined)
    return [{ name, in: 'query', ...descriptionMember, schema: list, style: 'form', explode: true }];
  const plainOnes = variants.filter(({ type }) => type !== 'object');
  const parameters: JsonObject[] = [];
  if (plainOnes.length > 0)
    parameters.push({
      name,
      in: 'query',
      ...descriptionMember,
      schema: plainOnes.length === 1 ? (plainOnes[0] ?? {}) : { anyOf: plainOnes },
    });
  for (const variant of variants.filter(({ type }) => type === 'object')) {
    const inner = objectOf(variant['properties']);
    if (Object.keys(inner).length === 0)
      parameters.push({ name, in: 'query', ...descriptionMember, schema: variant, style: 'deepObject', explode: true });
    for (const [member, bound] of Object.entries(inner))
      parameters.push({ name: `${name}[${member}]`, in: 'query', schema: bound });
  }
  return parameters;
}

/** `:slug` and `*place` are `{slug}` and `{place}`. */
export const documentedPath = (path: string): string => path.replaceAll(/[:*]([a-z]+)/gi, '{$1}');

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Whether a schema gets its own name: schemas with members do. */
const isShape = (schema: z.ZodType): boolean => jsonSchemaOf(schema, DIALECT)['properties'] !== undefined;

function plain(schema: object): Json {
  const { $schema: _dialect, $id: _id, ...rest } = schema as JsonObject;
  return rest;
}

/** The schemas that the paths refer to, also through others, by name. */
function referencedSchemas(paths: JsonObject, schemas: { readonly [id: string]: Json }): { [id: string]: Json } {
  const used: { [id: string]: Json } = {};
  const take = (text: string): void => {
    for (const [, id = ''] of text.matchAll(/"#\/components\/schemas\/([^"/]+)"/g)) {
      const schema = schemas[id];
      if (schema === undefined || Object.hasOwn(used, id)) continue;
      used[id] = schema;
      take(JSON.stringify(schema));
    }
  };
  take(JSON.stringify(paths));
  return Object.fromEntries(
    Object.keys(schemas)
      .sort()
      .flatMap((id) => (Object.hasOwn(used, id) ? [[id, used[id] ?? null]] : [])),
  );
}
