// What the gateway's end-to-end tests share: a gateway that listens on a free port over the shared Temporal server, a
// worker, and requests.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Definition } from '../../../src/definition/document/types.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import { asJson, type Json, type JsonObject } from '../../../src/json/json.ts';
import { omitUndefined } from '../../../src/json/omit-undefined.ts';
import { startWorker, type TestServer, type TestWorker, testServer } from '../../support/temporal.ts';

export type Answer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape.
  body: any;
};

export type RequestOptions = { headers?: Record<string, string>; json?: Json; text?: string };

export type TestGateway = {
  url: string;
  server: TestServer;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Stores a new definition, and answers its slug. */
  store(definition: JsonObject): Promise<string>;
  /** Makes an API key, and answers its text. */
  makeKey(json: JsonObject): Promise<string>;
  /** Starts a run of a stored definition, and answers its id. */
  start(workflowId: string, input?: Json): Promise<string>;
  /** Starts a run of a definition that is not stored, and answers its id. */
  startInline(definition: JsonObject | Definition, input?: Json): Promise<string>;
  /** Asks again until the answer satisfies; lists may lag. */
  until(path: string, fits: (answer: Answer) => boolean, seconds?: number): Promise<Answer>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
};

/** A slug, path or name that no other test has. */
export const unique = (name: string): string => `${name}-${randomBytes(4).toString('hex')}`;

/** The gateway of a test file, or of a block: it is there for its tests and hooks, and closed after them. */
export function sharedGateway(overrides: Record<string, string> = {}): TestGateway {
  const gateway = {} as TestGateway;
  beforeAll(async () => {
    Object.assign(gateway, await testGateway(overrides));
  });
  afterAll(() => gateway.close());
  return gateway;
}

export async function testGateway(overrides: Record<string, string> = {}): Promise<TestGateway> {
  const server = await testServer(overrides);
  let worker: TestWorker | undefined = await startWorker(server);
  const gateway = await startGateway(server.config, { temporal: server, uiUrl: 'http://127.0.0.1:8233' });
  const stopWorker = async () => {
    await worker?.stop();
    worker = undefined;
  };
  // Where the settings hold an admin's key, requests show it unless they show another.
  const { adminKey } = server.config;
  const usual = adminKey === undefined ? {} : { authorization: `Bearer ${adminKey}` };
  const request: TestGateway['request'] = (method, path, options = {}) =>
    requestTo(gateway.url, method, path, { ...options, headers: { ...usual, ...options.headers } });
  const created = async (method: string, path: string, json: Json): Promise<Answer['body']> => {
    const { status, body } = await request(method, path, { json });
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };
  /** On a busy machine the outcome of a write may be unknown in time: it is sent again, as the same request. */
  const makeKey = async (json: JsonObject): Promise<string> => {
    const options = { json, headers: { 'idempotency-key': randomBytes(8).toString('hex') } };
    for (let tries = 5; ; tries--) {
      const { status, body } = await request('POST', '/api/keys', options);
      if (status >= 500 && tries > 1) continue;
      expect(status, JSON.stringify(body)).toBe(201);
      return body.key;
    }
  };
  return {
    url: gateway.url,
    server,
    request,
    makeKey,
    store: async (definition) => {
      const slug = String(definition['slug']);
      await created('PUT', `/api/workflows/${slug}`, definition);
      return slug;
    },
    start: async (workflowId, input) =>
      (await created('POST', '/api/triggers/manual/run', { workflowId, ...omitUndefined({ input }) })).executionId,
    startInline: async (definition, input) =>
      (await created('POST', '/api/executions', { definition: asJson(definition), ...omitUndefined({ input }) }))
        .executionId,
    until: async (path, fits, seconds = 30) => {
      const deadline = Date.now() + seconds * 1000;
      for (;;) {
        const answer = await request('GET', path);
        if (fits(answer)) return answer;
        if (Date.now() > deadline)
          throw new Error(`${path} did not come to it: ${answer.status} ${JSON.stringify(answer.body)}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    stopWorker,
    close: async () => {
      await gateway.close();
      await stopWorker();
      await server.close();
    },
  };
}

export async function requestTo(url: string, method: string, path: string, options: RequestOptions): Promise<Answer> {
  const { json, text, headers = {} } = options;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  let body: unknown = answer;
  try {
    body = JSON.parse(answer);
  } catch {
    // Some answers have no body.
  }
  return { status: response.status, headers: response.headers, body };
}

/** A definition whose run waits for an approval and gives what was decided. */
export function approvalDefinition(slug: string, more: { [key: string]: Json } = {}): { [key: string]: Json } {
  return {
    name: 'Refund approval',
    slug,
    tags: ['finance'],
    steps: {
      received: { stepType: 'trigger', nextSteps: { success: 'review' } },
      review: {
        stepType: 'approval',
        config: { message: 'Refund {{ input.amount }}?' },
        nextSteps: { approved: 'yes', rejected: 'no' },
      },
      yes: { stepType: 'finish', config: { output: { paid: '{{ input.amount }}' } } },
      no: { stepType: 'finish', config: { output: { paid: 0 } } },
    },
    ...more,
  };
}

/** A definition that ends at once, and gives its input. */
export function echoDefinition(slug: string, more: { [key: string]: Json } = {}): { [key: string]: Json } {
  return {
    name: 'Echo',
    slug,
    steps: {
      received: { stepType: 'trigger', nextSteps: { success: 'done' } },
      done: { stepType: 'finish', config: { output: '{{ input }}' } },
    },
    ...more,
  };
}
