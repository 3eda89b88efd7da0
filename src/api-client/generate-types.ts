/** The types of the client, as text of TypeScript, from the OpenAPI document. */
import { objectOf } from '../gateway/manual/schema-tables.ts';
import { isObject, type Json, type JsonObject } from '../json/json.ts';

const HEADER_TEXT = `// Written by the build from the OpenAPI document.
import type { Client as FetchClient, ClientOptions } from 'openapi-fetch';

/** A client of the gateway at \`url\`, which may have a path. A gateway without API keys needs no \`key\`. */
export declare function createClient(
  options: Omit<ClientOptions, 'baseUrl'> & { url: string; key?: string | undefined },
): Client;

/** One method for each method of HTTP. It answers \`data\` or \`error\`, and throws only where no answer comes. */
export type Client = { [Method in 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE']: Call<Method> } &
  Pick<FetchClient<Paths>, 'use' | 'eject'>;

/** A problem with one of these codes. */
export type Refusal<Code extends string> = Problem & { code: Code };

type Call<Method extends string> = <Path extends PathOf<Method>>(
  path: Path,
  ...options: Paths[Path] extends { [M in Method]: { options: infer Given } }
    ? [options: Given & Common]
    : Paths[Path] extends { [M in Method]: { options?: infer Given } }
      ? [options?: Given & Common]
      : never
) => Promise<
  Paths[Path] extends { [M in Method]: { data: infer Data; error: infer Refused } }
    ?
        | { data: Data; error?: undefined; response: Response }
        | { data?: undefined; error: Refused; response: Response }
    : never
>;
type PathOf<Method extends string> = {
  [Path in keyof Paths]: Paths[Path] extends { [M in Method]: unknown } ? Path : never;
}[keyof Paths];
type Common = { signal?: AbortSignal; headers?: { [name: string]: string } };
`;

/** A file of TypeScript with a type for each schema, and one for each path. */
export function generateTypes(document: JsonObject): string {
  const schemas = Object.entries(objectOf(objectOf(document['components'])['schemas'])).map(
    ([name, schema]) => `${comment(objectOf(schema)['description'])}export type ${name} = ${typeOf(schema)};\n`,
  );
  const paths = Object.entries(objectOf(document['paths'])).map(([path, operations]) =>
    member(
      path,
      true,
      block(
        Object.entries(objectOf(operations)).map(([method, one]) => operation(method.toUpperCase(), objectOf(one))),
      ),
    ),
  );
  return [HEADER_TEXT, ...schemas, `export interface Paths ${block(paths)}\n`].join('\n');
}

function operation(method: string, { summary, parameters, requestBody, responses }: JsonObject): string {
  const answers = Object.entries(objectOf(responses)).map(([status, one]) => ({ status, answer: objectOf(one) }));
  const bodies = (refused: boolean): string[] =>
    answers
      .filter(({ status }) => status >= '400' === refused)
      .flatMap(({ answer: { content } }) => {
        const { 'application/problem+json': _refusal, ...media } = objectOf(content);
        const types = typesOf(media);
        return types.length > 0 || refused ? types : ['undefined'];
      });
  const codes = new Set(answers.flatMap(({ answer }) => listOf(answer['x-codes'])));
  const places = ['path', 'query', 'header'].flatMap((place) => parametersIn(place, listOf(parameters).map(objectOf)));
  const { content, required } = objectOf(requestBody);
  const options = [
    ...optional('params', places),
    ...(content === undefined ? [] : [member('body', required === true, unionOf(typesOf(content)))]),
  ];
  return member(
    method,
    true,
    block([
      ...optional('options', options),
      member('data', true, unionOf(bodies(false))),
      member('error', true, unionOf([`Refusal<${unionOf([...codes].map(literal))}>`, ...bodies(true)])),
    ]),
    summary,
  );
}

/** The parameters of one place, such as the query. */
function parametersIn(place: string, parameters: readonly JsonObject[]): string[] {
  return optional(
    place,
    parameters
      .filter((one) => one['in'] === place)
      .map(({ name, required, schema, description }) =>
        member(
          String(name),
          required === true,
          unionOf([typeOf(schema), ...(required === true ? [] : ['undefined'])]),
          description,
        ),
      ),
  );
}

const typesOf = (content: Json): string[] =>
  Object.values(objectOf(content)).map((media) => typeOf(objectOf(media)['schema']));

/** A JSON Schema as a type. What only restricts values, such as a pattern, is left out. */
function typeOf(value: Json | undefined): string {
  if (!isObject(value)) return 'unknown';
  const { $ref, enum: values, type, anyOf, oneOf } = value;
  if (typeof $ref === 'string') return $ref.replace('#/components/schemas/', '');
  if (value['const'] !== undefined) return literal(value['const']);
  if (Array.isArray(values)) return unionOf(values.map(literal));
  const variants = listOf(anyOf ?? oneOf);
  if (variants.length > 0) return unionOf(variants.map(typeOf));
  if (Array.isArray(type)) return unionOf(type.map((one) => typeOf({ ...value, type: one })));
  if (type === 'array') return `(${typeOf(value['items'])})[]`;
  if (type === 'object') return objectType(value);
  if (type === 'integer') return 'number';
  return typeof type === 'string' ? type : 'unknown';
}

function objectType({ properties, additionalProperties, propertyNames, required }: JsonObject): string {
  const needed = listOf(required);
  const members = Object.entries(objectOf(properties)).map(([name, one]) =>
    member(name, needed.includes(name), typeOf(one), objectOf(one)['description']),
  );
  const names = objectOf(propertyNames)['enum'];
  if (Array.isArray(names)) {
    const keys = unionOf(names.map(literal));
    return `{ [name in ${keys}]${needed.length === 0 ? '?' : ''}: ${typeOf(additionalProperties)} }`;
  }
  if (isObject(additionalProperties))
    members.push(`[name: string]: ${members.length > 0 ? 'unknown' : typeOf(additionalProperties)};`);
  return block(members);
}

const block = (members: readonly string[]): string => `{\n  ${members.join('\n').replaceAll('\n', '\n  ')}\n}`;

/** A member that holds these members, and is required if one of them is. Nothing where there are none. */
const optional = (name: string, members: readonly string[]): string[] =>
  members.length === 0
    ? []
    : [
        member(
          name,
          members.some((one) => !OPTIONAL.test(one)),
          block(members),
        ),
      ];
const OPTIONAL = /^(?:\/\*\*.*\*\/\n)?"[^"]+"\?:/;

const member = (name: string, isRequired: boolean, type: string, description?: Json): string =>
  `${comment(description)}${literal(name)}${isRequired ? '' : '?'}: ${type};`;

const comment = (text: Json | undefined): string =>
  typeof text === 'string' && text !== '' ? `/** ${text.replaceAll('*/', '* /')} */\n` : '';

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(' | ');
const literal = (value: Json): string => JSON.stringify(value);
const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
