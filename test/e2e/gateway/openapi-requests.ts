// Requests that the OpenAPI document allows, generated; and what is wrong with an answer by that document.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';

export type Schema = { readonly [keyword: string]: unknown };
export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
  readonly style?: string;
  readonly required?: boolean;
};
type Content = { readonly [media: string]: { readonly schema: Schema } };
export type Operation = {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: {
    readonly [status: string]: { readonly content?: Content; readonly 'x-codes'?: readonly string[] };
  };
};
export type Document = {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly [id: string]: Schema } };
};

export type Sent = {
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly text?: string;
};

/** Values for members and parameters of these names, beside what their schemas allow. */
export type Known = { readonly [name: string]: readonly unknown[] };

/** Requests of one operation that its part of the document allows. */
export function requestsOf(document: Document, path: string, operation: Operation, known: Known): fc.Arbitrary<Sent> {
  const values = new Values(document, known);
  const of = (place: Parameter['in']) => operation.parameters.filter((parameter) => parameter.in === place);
  const places = fc.record(Object.fromEntries(of('path').map((one) => [one.name, values.path(one)])));
  const query = some(
    Object.fromEntries(of('query').map((one) => [one.name, values.named(one.name, one.schema)])),
    of('query').flatMap(({ name, required }) => (required === true ? [name] : [])),
  );
  const headers = some(Object.fromEntries(of('header').map((one) => [one.name, values.header(one.name)])));
  return fc
    .record({ places, query, headers, body: values.body(operation) })
    .map(({ places, query, headers, body }) => ({
      path: path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encoded(String(places[name]))) + searchOf(query),
      headers: { ...(headers as Record<string, string>), ...body.headers },
      ...(body.text === undefined ? {} : { text: body.text }),
    }));
}

/**
 * The least request of an operation: known values in its path, and what cannot be left out of query and body, known or
 * made from its schema, the same each time.
 * @throws Error where a part of the path is unknown.
 */
export function leastRequest(document: Document, path: string, operation: Operation, known: Known): Sent {
  const values = new Values(document, known);
  const one = (value: fc.Arbitrary<unknown>): unknown => fc.sample(value, { seed: 1, numRuns: 1 })[0];
  const address = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const [value] = known[name] ?? [];
    if (value === undefined) throw new Error(`no value is known for {${name}}`);
    return encoded(String(value));
  });
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name, schema }) => [name, known[name]?.[0] ?? one(values.of(schema))]);
  const { required, content } = operation.requestBody ?? { required: false, content: {} };
  const { schema } = content['application/json'] ?? { schema: {} };
  const [body = required ? one(values.least(schema)) : undefined] = known[idOf(schema) ?? BODY] ?? [];
  return {
    path: address + searchOf(Object.fromEntries(query)),
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { text: JSON.stringify(body) }),
  };
}

/** A few of them: with all at once, one would always be wrong. */
function some(members: Record<string, fc.Arbitrary<unknown>>, required: readonly string[] = []) {
  const optional = Object.keys(members).filter((name) => !required.includes(name));
  return fc
    .subarray(optional, { maxLength: Math.min(3, optional.length) })
    .chain((names) => fc.record(Object.fromEntries([...required, ...names].map((name) => [name, members[name]!]))));
}

/** Slashes of a webhook's path stay. */
const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%2F', '/');

function searchOf(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const one of value) search.append(name, String(one));
    else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) search.append(`${name}[${key}]`, String(one));
    else search.append(name, String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** The name of a body whose schema has none. */
export const BODY = 'body';

/** Other values of `wait` would wait, and others of these would end what is not the test's. */
const ONLY_KNOWN: ReadonlySet<string> = new Set(['wait', 'filter', 'SyncAllWorkflowsRequest', 'PutLimitRequest']);

class Values {
  readonly #document: Document;
  readonly #known: Known;
  constructor(document: Document, known: Known) {
    this.#document = document;
    this.#known = known;
  }

  named(name: string, schema: Schema): fc.Arbitrary<unknown> {
    const known = this.#known[name];
    if (ONLY_KNOWN.has(name)) return fc.constantFrom(...(known ?? [0]));
    return known === undefined
      ? this.of(schema)
      : fc.oneof({ arbitrary: fc.constantFrom(...known), weight: 4 }, this.of(schema));
  }

  /** A path of dots only is another path. */
  path({ name, schema }: Parameter): fc.Arbitrary<unknown> {
    return this.named(name, schema).filter((value) => !/^\.*$/.test(String(value)) && !String(value).includes('/'));
  }

  header(name: string): fc.Arbitrary<unknown> {
    return fc.oneof(fc.constantFrom(...(this.#known[name] ?? ['x'])), fc.stringMatching(/^[A-Za-z0-9]{1,10}$/));
  }

  body({ requestBody }: Operation): fc.Arbitrary<{ text?: string; headers: Record<string, string> }> {
    if (requestBody === undefined) return fc.constant({ headers: {} });
    const { schema } = requestBody.content['application/json'] ?? { schema: {} };
    const json = this.named(idOf(schema) ?? BODY, schema).map((value) => ({
      text: JSON.stringify(value),
      headers: { 'content-type': 'application/json' },
    }));
    const other = fc.record({
      text: fc.oneof(fc.string(), fc.json()),
      headers: fc.record({
        'content-type': fc.constantFrom(...Object.keys(requestBody.content), 'text/html', 'application/json'),
      }),
    });
    const none = fc.constant({ headers: {} });
    return fc.oneof({ arbitrary: json, weight: 8 }, other, none);
  }

  /** Of an object: the members that it cannot do without. */
  least(written: Schema): fc.Arbitrary<unknown> {
    const schema = this.#resolved(written);
    const properties = (schema['properties'] ?? {}) as { [name: string]: Schema };
    if (schema['type'] !== 'object') return this.of(schema);
    const required = (schema['required'] ?? []) as string[];
    return fc.record(Object.fromEntries(required.map((name) => [name, this.least(properties[name] ?? {})])));
  }

  of(written: Schema): fc.Arbitrary<unknown> {
    const schema = this.#resolved(written);
    const variants = schema['anyOf'] ?? schema['oneOf'];
    if (Array.isArray(variants)) return fc.oneof(...variants.map((one: Schema) => this.of(one)));
    if (schema['const'] !== undefined) return fc.constant(schema['const']);
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
    switch (schema['type']) {
      case 'string':
        return textOf(schema);
      case 'integer':
        return fc.integer(boundsOf(schema, 1_000_000));
      case 'number':
        return fc.double({ noNaN: true, noDefaultInfinity: true });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array':
        return fc.array(this.of((schema['items'] ?? {}) as Schema), {
          minLength: Number(schema['minItems'] ?? 0),
          maxLength: 4,
        });
      case 'object':
        return this.#object(schema);
      default:
        return fc.jsonValue({ maxDepth: 3 });
    }
  }

  #object(schema: Schema): fc.Arbitrary<unknown> {
    const properties = (schema['properties'] ?? {}) as { [name: string]: Schema };
    const required = (schema['required'] ?? []) as string[];
    if (Object.keys(properties).length > 0) {
      const members = Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, this.named(name, one)]),
      );
      return some(members, required);
    }
    const value = (schema['additionalProperties'] ?? {}) as Schema;
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), this.of(value), { maxKeys: 3 });
  }

  #resolved(schema: Schema): Schema {
    const id = idOf(schema);
    return id === undefined ? schema : (this.#document.components.schemas[id] ?? {});
  }
}

export function idOf(schema: Schema): string | undefined {
  return typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
}

function textOf(schema: Schema): fc.Arbitrary<string> {
  const { format, pattern } = schema;
  const time = fc
    .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
    .map((date) => date.toISOString());
  if (format === 'date-time') return time;
  if (format === 'date') return time.map((text) => text.slice(0, 10));
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern), { size: '-1' });
  return fc.string({
    minLength: Number(schema['minLength'] ?? 0),
    maxLength: Math.min(Number(schema['maxLength'] ?? 20), 200),
    unit: 'binary',
  });
}

function boundsOf(schema: Schema, most: number): { min: number; max: number } {
  return { min: Number(schema['minimum'] ?? 0), max: Math.min(Number(schema['maximum'] ?? most), most) };
}

/** Finds faults in answers. Members that the document does not name are faults too. */
export class AnswerChecker {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #components: unknown;
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Document) {
    this.#components = closed(document.components);
  }

  faults(operation: Operation, status: number, type: string, text: string): string[] {
    const documented = operation.responses[String(status)];
    if (documented === undefined) return [`the status ${status} is not documented: ${text.slice(0, 300)}`];
    if (documented.content === undefined) return text === '' ? [] : ['there is a body, and none is documented'];
    const media = type.split(';')[0] ?? '';
    const content = documented.content[media];
    if (content === undefined) return [`the type ${media} of ${status} is not documented`];
    if (!media.includes('json') || media === 'application/schema+json') return [];
    const body = JSON.parse(text) as { code?: string };
    const codes = documented['x-codes'];
    if (codes !== undefined && !codes.includes(body.code ?? ''))
      return [`the code ${body.code} of ${status} is not documented`];
    const validate = this.#validator(content.schema);
    if (validate(body)) return [];
    return (validate.errors ?? []).map(
      (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
    );
  }

  #validator(schema: Schema): ValidateFunction {
    const key = JSON.stringify(schema);
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const made = this.#ajv.compile({ ...(closed(schema) as object), components: this.#components });
    this.#compiled.set(key, made);
    return made;
  }
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isObject = members['type'] === 'object' && members['properties'] !== undefined;
  return isObject && members['additionalProperties'] === undefined
    ? { ...members, additionalProperties: false }
    : members;
}
