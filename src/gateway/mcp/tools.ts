/**
 * The tools of `/mcp`, made from routes: their input schemas are those of the route's path, query and body, and a call
 * becomes a request to the route. So roles, checks, limits, audit and answers are the API's.
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { getOwn, type Json, type JsonObject } from '../../json/json.ts';
import type { Gateway } from '../http/context.ts';
import { pathPattern } from '../http/path-pattern.ts';
import { asProblem, problemBody } from '../http/problem.ts';
import type { Route } from '../http/route.ts';
import { jsonSchemaOf } from '../manual/language-schema.ts';
import { objectOf } from '../manual/schema-tables.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { parseJsonText } from '../validation/json-guard.ts';
import type { InternalAnswer, InternalRequest } from './internal-request.ts';
import { TOOLS, type ToolSpec } from './tool-table.ts';

const DEFINITION = 'definition';
/** Headers that are arguments. */
const HEADERS: { readonly [argument: string]: string } = { idempotencyKey: 'idempotency-key', ifMatch: 'if-match' };
const MAX_SHOWN_PROBLEMS = 20;
/** Routes that remove or replace something, or that may do anything, as tools of MCP servers may. */
const DESTRUCTIVE = [
  'deleteWorkflow',
  'putWorkflow',
  'cancelExecution',
  'deleteRecording',
  'dropRecordedStep',
  'recordCall',
  'saveRecording',
];

/** A tool, with the request that a call of it is. */
interface RouteTool {
  readonly tool: Tool;
  /** @throws HttpProblem `invalid_request` for arguments that no request can be made of; `not_found`. */
  requestOf(args: JsonObject): InternalRequest;
  resultOf(answer: InternalAnswer): CallToolResult;
}

const toolCache = new WeakMap<readonly Route[], ReadonlyMap<string, RouteTool>>();

/** The tools by name. Made once. */
export function toolsOf(routes: readonly Route[]): ReadonlyMap<string, RouteTool> {
  const tools = toolCache.get(routes) ?? new Map(TOOLS.map((spec) => [spec.name, toolOf(spec, routes)]));
  toolCache.set(routes, tools);
  return tools;
}

function toolOf(spec: ToolSpec, routes: readonly Route[]): RouteTool {
  const route = routes.find(({ id }) => id === spec.route);
  if (route === undefined) throw new Error(`The tool ${spec.name} has no route: ${spec.route}.`);
  const schema = inputSchema(spec, route);
  return {
    tool: {
      name: spec.name,
      description: [route.summary, route.description, spec.about, neededRole(route)]
        .filter((text) => text !== undefined)
        .join(' '),
      inputSchema: schema as Tool['inputSchema'],
      annotations: {
        readOnlyHint: route.method === 'GET' || spec.isReadOnly === true,
        destructiveHint: DESTRUCTIVE.includes(route.id),
      },
    },
    requestOf: (given) => {
      const args = resolveAliases(given, spec.aliases ?? {});
      demandArguments(args, schema);
      return requestOf(spec, route, routes, readTexts(args, objectOf(schema['properties'])));
    },
    resultOf: (answer) => (spec.pathSuffix === undefined ? resultOf(route, answer) : readResult(answer)),
  };
}

/** The arguments: parameters of the path and of the query, members of the body, and headers. */
function inputSchema(spec: ToolSpec, route: Route): JsonObject {
  const paths = Object.entries(route.params).map(([name, schema]) => [argumentOf(route, name), jsonSchemaOf(schema)]);
  const query = route.query === undefined ? {} : jsonSchemaOf(route.query);
  const body = route.body === undefined ? {} : jsonSchemaOf(route.body.schema);
  const members = spec.takesDefinition === true ? {} : objectOf(body['properties']);
  const hidden = [...Object.keys(spec.fixed ?? {}), ...(spec.omitted ?? [])];
  const requiredOfBody = spec.takesDefinition === true ? [DEFINITION] : namesIn(body['required']);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(paths),
      ...(spec.takesDefinition === true ? { [DEFINITION]: DEFINITION_SCHEMA } : {}),
      ...Object.fromEntries(
        Object.entries(members)
          .filter(([name]) => !hidden.includes(name))
          .map(([name, member]) => [name, withExplicitTypes(objectOf(member))]),
      ),
      ...objectOf(query['properties']),
      ...(route.idempotency === 'none' || spec.isReadOnly === true ? {} : { idempotencyKey: IDEMPOTENCY_KEY_SCHEMA }),
      ...(route.headers?.['If-Match'] === undefined || spec.headers?.['if-none-match'] !== undefined
        ? {}
        : { ifMatch: { type: 'string', description: route.headers['If-Match'] } }),
    },
    required: [
      ...Object.keys(route.params).map((name) => argumentOf(route, name)),
      ...new Set([...requiredOfBody, ...namesIn(query['required']), ...(spec.required ?? [])]),
    ],
    additionalProperties: false,
    // What the parts refer to.
    ...(body['definitions'] === undefined ? {} : { definitions: body['definitions'] }),
  };
}

/** What says which values a schema takes. */
const TYPE_KEYWORDS = ['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'];

/** A schema that takes any value names all types: clients send a text for an argument of which they know no type. */
const withExplicitTypes = (schema: JsonObject): JsonObject =>
  TYPE_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))
    ? schema
    : { type: ['object', 'array', 'string', 'number', 'boolean', 'null'], ...schema };

/** Arguments that are documents: a text is YAML or JSON, and is stored as it is written. */
const DOCUMENT_ARGUMENTS = [DEFINITION, 'proposal'];

/**
 * The arguments in which an object or a list that came as a JSON text is read: clients send a text although a schema
 * also takes objects. @throws HttpProblem those of parseJsonText, but `invalid_json`.
 */
const readTexts = (args: JsonObject, schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const { type } = objectOf(schemas[name]);
      const isAny = Array.isArray(type) && type.includes('object') && !DOCUMENT_ARGUMENTS.includes(name);
      return [name, isAny && typeof value === 'string' ? readText(value) : value];
    }),
  );

function readText(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return parseJsonText(text);
  } catch (error) {
    if (error instanceof HttpProblem && error.code === 'invalid_json') return text;
    throw error;
  }
}

const DEFINITION_SCHEMA: JsonObject = {
  type: ['object', 'string'],
  description: 'The definition: an object, or YAML as text. Places of problems begin at its root.',
};
const IDEMPOTENCY_KEY_SCHEMA: JsonObject = {
  type: 'string',
  description: 'A call that repeats the key is the same call, and gets the same answer.',
};

const namesIn = (names: Json | undefined): readonly string[] => (Array.isArray(names) ? names.map(String) : []);

/** The arguments for the `id` in paths, as answers call them. */
const IDS: { readonly [path: string]: string } = {
  '/api/executions/:id': 'executionId',
  '/api/recordings/:id': 'recordingId',
};

/** The argument for a parameter of the path. */
function argumentOf({ path }: Route, name: string): string {
  const begin = Object.keys(IDS).find((one) => path === one || path.startsWith(`${one}/`));
  return (name === 'id' && begin !== undefined ? IDS[begin] : undefined) ?? name;
}

/** The arguments under their own names. One that is given under both keeps its other name, which is refused. */
function resolveAliases(args: JsonObject, aliases: { readonly [name: string]: string }): JsonObject {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const argument = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
      return [argument === undefined || Object.hasOwn(args, argument) ? name : argument, value];
    }),
  );
}

/** What the route cannot know: names that are no arguments, and missing ones that make the address. */
function demandArguments(args: JsonObject, schema: JsonObject): void {
  const known = objectOf(schema['properties']);
  const problems = [
    ...Object.keys(args)
      .filter((name) => !Object.hasOwn(known, name))
      .map((name) => problemAt(name, 'unknown_member', 'The tool has no such argument.')),
    ...namesIn(schema['required'])
      .filter((name) => getOwn(args, name) === undefined)
      .map((name) => problemAt(name, 'missing', 'This argument is required.')),
  ].slice(0, MAX_SHOWN_PROBLEMS);
  if (problems.length > 0) throw refused(problems);
}

const problemAt = (name: string, code: string, message: string) => ({
  pointer: `/${name.replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 200)}`,
  code,
  message,
});

function refused(problems: ReturnType<typeof problemAt>[]): HttpProblem {
  const [first] = problems;
  return new HttpProblem('invalid_request', `The arguments at ${first?.pointer} are wrong: ${first?.message}`, {
    problems,
  });
}

function requestOf(spec: ToolSpec, route: Route, routes: readonly Route[], args: JsonObject): InternalRequest {
  const rest = new Map(Object.entries(args));
  const take = (name: string): Json | undefined => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  const path = route.path.replaceAll(/:(\w+)/g, (_all, name: string) => {
    const argument = argumentOf(route, name);
    return encodePathParameter(argument, take(argument));
  });
  const address = path + (spec.pathSuffix ?? '');
  // A name may be that of another route: `/api/executions/counts` is no run.
  const answering = routes.find((one) => one.method === route.method && pathPattern(one.path).test(path));
  if (answering !== route) throw new HttpProblem('not_found', 'There is nothing of that name.');
  const headers: { [name: string]: string } = { ...spec.headers };
  for (const [argument, header] of Object.entries(HEADERS)) {
    const value = take(argument);
    if (value !== undefined) headers[header] = textOf(argument, value);
  }
  const inQuery = route.query === undefined ? {} : objectOf(jsonSchemaOf(route.query)['properties']);
  const query = new URLSearchParams();
  for (const name of [...rest.keys()]) if (Object.hasOwn(inQuery, name)) addQuery(query, name, take(name));
  const url = query.size === 0 ? address : `${address}?${query}`;
  const base = { method: route.method, url, headers };
  if (route.body === undefined) return base;
  const definition = spec.takesDefinition === true ? take(DEFINITION) : undefined;
  if (typeof definition === 'string')
    return { ...base, headers: { ...headers, 'content-type': 'application/yaml' }, body: Buffer.from(definition) };
  const body = definition ?? { ...Object.fromEntries(rest), ...spec.fixed };
  return {
    ...base,
    headers: { ...headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

function textOf(argument: string, value: Json | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  throw refused([problemAt(argument, 'invalid_value', 'Expected a text.')]);
}

function encodePathParameter(argument: string, value: Json | undefined): string {
  try {
    return encodeURIComponent(textOf(argument, value));
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw refused([problemAt(argument, 'invalid_value', 'Expected a text without half of a surrogate pair.')]);
  }
}

/** As the API writes it: `status=a&status=b`, `started[gte]=…`. */
function addQuery(query: URLSearchParams, name: string, value: Json | undefined): void {
  if (Array.isArray(value)) for (const item of value) addQuery(query, name, item);
  else if (typeof value === 'object' && value !== null)
    for (const [member, inner] of Object.entries(value)) addQuery(query, `${name}[${member}]`, inner);
  else query.append(name, String(value ?? ''));
}

const neededRole = ({ role }: Route): string => (role === 'public' ? 'Needs no role.' : `Needs the role ${role}.`);

/** The result of a tool whose route answers with a text. */
const readResult = ({ status, text }: InternalAnswer): CallToolResult =>
  status >= 400 ? refusal(JSON.parse(text) as JsonObject) : { content: [{ type: 'text', text }] };

function resultOf(route: Route, { status, text }: InternalAnswer): CallToolResult {
  const body = text === '' ? undefined : (JSON.parse(text) as JsonObject);
  if (status >= 400) return refusal(body ?? { status });
  const message = text === '' ? (route.answers[status]?.text ?? 'Done.') : text;
  return { content: [{ type: 'text', text: message }], structuredContent: body ?? { status } };
}

/** A refusal as the API answers it: code, what is wrong, and where. */
export function refusalOf(error: unknown, { log }: Gateway, disconnected: AbortSignal): CallToolResult {
  const problem = asProblem(error);
  if (problem.status === 500 && !disconnected.aborted) log.error({ err: problem.cause }, problem.message);
  return refusal(problemBody(problem));
}

function refusal(body: JsonObject): CallToolResult {
  const problems = Array.isArray(body['problems']) ? body['problems'].map(objectOf) : [];
  const lines = problems.slice(0, MAX_SHOWN_PROBLEMS).map(({ pointer, message }) => `${pointer || '/'}: ${message}`);
  const text = [`${body['code']}: ${body['detail']}`, ...lines].join('\n');
  return { isError: true, content: [{ type: 'text', text }], structuredContent: body };
}
