/** The HTTP API as the manual lists it. Everything comes from the OpenAPI document, so the two cannot differ. */
import { ROLES } from '../../../contract/organization/organization.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import { code, table } from '../page.ts';
import { type Field, fieldsOf, fieldTable, objectOf } from '../schema-tables.ts';

interface ApiOperation {
  /** `GET /api/executions/{id}`. */
  readonly request: string;
  readonly tag: string;
  readonly operation: JsonObject;
}

/** Every operation, in the order of the document. */
function apiOperations(document: JsonObject): ApiOperation[] {
  return Object.entries(objectOf(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).map(([method, value]) => {
      const operation = objectOf(value);
      return { request: `${method.toUpperCase()} ${path}`, tag: String(listOf(operation['tags'])[0]), operation };
    }),
  );
}

/** One section per tag: a table of its requests, then each request with its parameters, body, answers and problems. */
export function operationReference(document: JsonObject): string {
  const all = apiOperations(document);
  return [...new Set(all.map(({ tag }) => tag))]
    .map((tag) => {
      const own = all.filter((one) => one.tag === tag);
      const rows = own.map(({ request, operation }) => [code(request), words(operation['summary'])]);
      const operations = own.map((one) => operationWords(one, document)).join('\n\n');
      return `## ${tag}\n\n${table(['Request', 'Purpose'], rows)}\n\n${operations}`;
    })
    .join('\n\n');
}

/** One row per role: the requests that need it. */
export function rolesTable(document: JsonObject): string {
  const all = apiOperations(document);
  const rows = ROLES.map((role) => {
    const own = all.filter(({ operation }) => operation['x-role'] === role);
    return [code(role), own.map(({ request }) => code(request)).join(', ')];
  });
  return table(['Role', 'Requests, in addition to those of the roles above'], rows);
}

function operationWords({ request, operation }: ApiOperation, document: JsonObject): string {
  const { summary, description, parameters } = operation;
  const role = operation['x-role'];
  const fields = listOf(parameters)
    .map(objectOf)
    .filter((one) => one['in'] !== 'path')
    .map(parameterField);
  const body = bodyFields(operation, document);
  const responses = Object.entries(objectOf(operation['responses'])).map(([status, value]) => {
    const answer = objectOf(value);
    return { status, answer, codes: listOf(answer['x-codes']).map(String) };
  });
  const answers = responses.filter(({ codes }) => codes.length === 0);
  const problems = responses.filter(({ codes }) => codes.length > 0);
  return [
    `### ${request}`,
    `${words(summary)}${description === undefined ? '' : ` ${words(description)}`}`,
    role === undefined ? '' : `Role: ${code(words(role))}.`,
    fields.length === 0 ? '' : fieldTable(fields),
    body.length === 0 ? '' : `Body:\n\n${fieldTable(body)}`,
    `Answers ${answers.map(({ status, answer }) => `${status}: ${words(answer['description'])}`).join(' ')}`,
    `Problems: ${problems.map(({ status, codes }) => `${status} ${codes.map(code).join(', ')}`).join('; ')}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function parameterField(parameter: JsonObject): Field {
  const name = words(parameter['name']);
  const [field] = fieldsOf({ properties: { [name]: objectOf(parameter['schema']) } });
  const description = parameter['description'] ?? field?.description;
  return {
    name,
    type: field?.type ?? 'text',
    isRequired: false,
    description: `${parameter['in'] === 'header' ? 'Header. ' : ''}${words(description)}`,
  };
}

function bodyFields(operation: JsonObject, document: JsonObject): Field[] {
  const [media] = Object.values(objectOf(objectOf(operation['requestBody'])['content']));
  return fieldsOf(objectOf(withoutReferences(objectOf(media)['schema'] ?? {}, document, [])));
}

/** The schema with what its references name in their place. A reference inside itself becomes the empty schema. */
function withoutReferences(value: Json, document: JsonObject, inside: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, document, inside));
  if (typeof value !== 'object' || value === null) return value;
  const reference = value['$ref'];
  if (typeof reference === 'string') {
    if (inside.includes(reference)) return {};
    return withoutReferences(componentOf(reference, document), document, [...inside, reference]);
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutReferences(member, document, inside)]),
  );
}

/** What `#/components/schemas/NAME` names. */
function componentOf(reference: string, document: JsonObject): JsonObject {
  const components = objectOf(document['components']);
  return objectOf(objectOf(components['schemas'])[reference.split('/').at(-1) ?? '']);
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const words = (value: Json | undefined): string => (value === undefined ? '' : String(value));
