import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION, documentedPath, openApiDocument } from '../../src/gateway/manual/openapi-document.ts';
import { routes } from '../../src/gateway/route-table.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal, pathsOfApp } from './gateway-support.ts';
import { sourceRoot } from './source-root.ts';

let gateway: GatewayWithoutTemporal;
beforeAll(async () => {
  gateway = await gatewayWithoutTemporal();
});
afterAll(() => gateway.close());

describe('the OpenAPI document', () => {
  it('is served, and is valid OpenAPI 3.1', async () => {
    const response = await fetch(`${gateway.url}/openapi.json`);
    expect(response.status).toBe(200);
    const document = (await response.json()) as { [member: string]: unknown };
    expect(document).toEqual(JSON.parse(JSON.stringify(openApiDocument(routes))));
    const validator = new Validator();
    expect(await validator.validate(document)).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(sourceRoot, 'package.json'), 'utf8'));
    expect(API_VERSION).toBe(version);
  });

  it('has every path that the gateway serves, and no other', async () => {
    const { paths } = openApiDocument(routes) as never as { paths: { [path: string]: object } };
    const served = await pathsOfApp();
    expect(served.length).toBeGreaterThan(30);
    expect(Object.keys(paths).sort()).toEqual(served.map(documentedPath).sort());
    expect(Object.values(paths).flatMap((methods) => Object.keys(methods)).length).toBe(routes.length);
  });

  it('says of each route that takes a definition in YAML, also as a text within JSON, that it may be malformed', () => {
    const { paths, components } = openApiDocument(routes) as never as {
      paths: { [path: string]: { [method: string]: { requestBody?: object } } };
      components: { schemas: { [id: string]: object } };
    };
    const bodyOf = (path: string, method: string): string =>
      JSON.stringify(paths[documentedPath(path)]![method.toLowerCase()]!.requestBody ?? {}).replaceAll(
        /"#\/components\/schemas\/([^"]+)"/g,
        (_ref, id: string) => JSON.stringify(components.schemas[id]),
      );
    const taking = routes.filter(({ path, method }) =>
      /YAML or JSON as text|"application\/yaml"/.test(bodyOf(path, method)),
    );
    expect(taking.map(({ id }) => id)).toEqual(expect.arrayContaining(['propose', 'runInline', 'storeWorkflow']));
    const silent = taking.filter(({ problems }) => !problems?.includes('invalid_yaml')).map(({ id }) => id);
    // Their answer has the problems of each document.
    expect(silent).toEqual(['syncWorkflow', 'syncAllWorkflows']);
  });

  it('gives each schema a name of its own', () => {
    const { paths } = openApiDocument(routes) as never as {
      paths: { [path: string]: { [method: string]: { responses: { [status: string]: Response } } } };
    };
    type Response = { content?: { [media: string]: { schema?: { $ref?: string } } } };
    const schemas = new Map<string, unknown>();
    const shared = routes.flatMap(({ id, path, method, answers }) =>
      Object.entries(answers).flatMap(([status, { schema, media = ['application/json'] }]) => {
        const { responses } = paths[documentedPath(path)]![method.toLowerCase()]!;
        const ref = responses[status]?.content?.[media[0]!]?.schema?.$ref;
        if (ref === undefined) return [];
        const known = schemas.get(ref) ?? schema;
        schemas.set(ref, schema);
        return known === schema ? [] : [`${id} ${status}: ${ref}`];
      }),
    );
    expect(shared).toEqual([]);
    expect(schemas.size).toBeGreaterThan(60);
  });

  it('says how a key is shown, where none is needed, and which role one must have', () => {
    const { paths, components, security } = openApiDocument(routes) as never as {
      paths: { [path: string]: { [method: string]: object } };
      components: { securitySchemes: object };
      security: object[];
    };
    expect(components.securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } });
    expect(security).toEqual([{ apiKey: [] }, { session: [] }, {}]);
    expect(paths['/api/keys']?.['post']).toMatchObject({ 'x-role': 'admin' });
    expect(paths['/api/keys']?.['post']).not.toHaveProperty('security');
    for (const path of ['/healthz', '/webhooks/{path}', '/api/public/trigger/{publicApiKey}/{workflowId}'])
      for (const operation of Object.values(paths[path] ?? {})) expect(operation, path).toMatchObject({ security: [] });
  });

  it('names every operation once, and says what it is for', () => {
    expect(new Set(routes.map(({ id }) => id)).size).toBe(routes.length);
    for (const { id, summary, description = '' } of routes) {
      expect(summary, id).toMatch(/^[A-Z].*\.$/);
      expect(description, id).toMatch(/^[A-Z`].{20,}\.$/s);
      expect(description, id).not.toBe(summary);
    }
    // Only the five ways to deliver a webhook, and the addresses of one page, say the same.
    const distinct = new Set(routes.map(({ description }) => description));
    expect(routes.length - distinct.size).toBeLessThan(20);
  });

  it('says of every tag what it is about, whom to ask, and has no schema that nothing refers to', () => {
    const document = openApiDocument(routes) as never as {
      info: object;
      tags: { name: string; description?: string }[];
      components: { schemas: { [name: string]: object } };
    };
    expect(document.info).toMatchObject({ contact: { name: expect.any(String) } });
    for (const { name, description } of document.tags) expect(description, name).toMatch(/^[A-Z].{10,}\.$/);
    const text = JSON.stringify(document);
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    );
    expect(unused).toEqual([]);
  });

  it('says of every operation who may call it', () => {
    const { paths } = openApiDocument(routes) as never as {
      paths: { [path: string]: { [method: string]: { description: string } } };
    };
    expect(paths['/api/keys']?.['post']?.description).toMatch(/ Needs the role admin\.$/);
    expect(paths['/healthz']?.['get']?.description).toMatch(/ Needs no API key\.$/);
  });

  it('names every parameter of a path', () => {
    for (const { id, path, params } of routes) {
      const named = [...path.matchAll(/[:*]([a-z]+)/gi)].map(([, name]) => name);
      expect(Object.keys(params), id).toEqual(named);
    }
  });

  it('says what the gateway asks of paths, headers and bodies', () => {
    const { paths, components } = openApiDocument(routes) as never as {
      paths: {
        [path: string]: { [method: string]: { parameters: { name: string; in: string; schema: object }[] } };
      };
      components: { schemas: { [name: string]: object } };
    };
    for (const address of ['/webhooks/{path}', '/webhooks/{org}/{path}'])
      expect(paths[address]?.['post']?.parameters.find(({ name }) => name === 'path')?.schema).toMatchObject({
        minLength: 1,
        maxLength: 200,
      });
    const headers = Object.values(paths).flatMap((one) => Object.values(one).flatMap(({ parameters }) => parameters));
    expect(headers.filter((one) => one.in === 'header').length).toBeGreaterThan(10);
    for (const one of headers.filter(({ in: place }) => place === 'header'))
      expect(one.schema, one.name).toMatchObject({ minLength: 1 });
    expect(paths['/mcp']?.['post']).toMatchObject({
      responses: { 400: { content: { 'application/json': {}, 'application/problem+json': {} } } },
    });
    const isTrigger = new Ajv2020({ strict: false }).compile(components.schemas['CreateTriggerRequest'] ?? {});
    for (const [body, valid] of [
      [{ name: 'a', type: 'schedule' }, false],
      [{ name: 'a', type: 'schedule', workflowId: null }, false],
      [{ name: 'a', workflowId: 'refund' }, false],
      [{ name: 'a', type: 'schedule', workflowId: 'refund' }, true],
      [{ name: 'a', workflowId: 'refund', config: { type: 'schedule' } }, true],
      [{ name: 'a', type: 'schedule', config: { target: 'orchestrator' } }, true],
    ] as const)
      expect([body, isTrigger(body)]).toEqual([body, valid]);
  });

  it('writes filters of lists as they are sent', () => {
    const { paths } = openApiDocument(routes) as never as {
      paths: { [path: string]: { get: { parameters: { name: string; schema: object }[] } } };
    };
    const parameters = paths['/api/executions']?.get.parameters ?? [];
    const of = (name: string) => parameters.find((parameter) => parameter.name === name);
    expect(of('limit')?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 1000 });
    expect(of('status')).toMatchObject({ schema: { type: 'array' }, explode: true });
    expect(of('state')).toMatchObject({ style: 'deepObject' });
    expect(of('started[gte]')).toBeDefined();
    expect(of('workflow_id')).toBeDefined();
  });
});
