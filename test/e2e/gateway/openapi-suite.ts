// Compares the routes with the OpenAPI document: by a valid request of each, generated ones, and invalid ones.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/gateway/manual/openapi-document.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import type { TestGateway } from './gateway-support.ts';
import {
  AnswerChecker,
  BODY,
  type Document,
  idOf,
  type Known,
  type Operation,
  requestsOf,
  type Sent,
} from './openapi-requests.ts';

const document = openApiDocument(routes) as unknown as Document;
const checker = new AnswerChecker(document);
/** Generated requests for each route. LONG=1: at depth. */
const REQUESTS = process.env['LONG'] === '1' ? 60 : 2;

export type Prepared = {
  readonly gateway: TestGateway;
  readonly headers?: Record<string, string>;
  readonly known: Known;
  /** Where an operation needs its own: what it ends, others would miss. */
  readonly knownBy: { readonly [operationId: string]: Known };
};

/** Runs are one file's, all else another's: together they are every path of the document. */
export const isAboutRuns = (path: string): boolean =>
  /^\/(webhooks|callbacks|docs|healthz|readyz|openapi|schema)/.test(path) ||
  /^\/api\/(executions|approvals|organizations|expressions|inbox)/.test(path);

/** `isReachable`: whether a request can know what a good answer takes. */
export function holdToDocument(
  isOurs: (path: string) => boolean,
  isReachable: (operation: Operation, path: string) => boolean,
  prepare: () => Promise<Prepared>,
): void {
  let prepared: Prepared;
  beforeAll(async () => {
    prepared = await prepare();
  }, 120_000);
  afterAll(() => prepared.gateway.close());

  const all = Object.entries(document.paths)
    .filter(([path]) => isOurs(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    );
  const named = (some: typeof all) => some.map((one) => [`${one.method} ${one.path}`, one] as const);
  const knownTo = ({ operationId }: Operation): Known => ({ ...prepared.known, ...prepared.knownBy[operationId] });

  async function send(method: string, sent: Sent, tries = 5): Promise<{ status: number; type: string; text: string }> {
    const { path, headers, text } = sent;
    const response = await fetch(`${prepared.gateway.url}${path}`, {
      method,
      headers: { ...prepared.headers, ...headers },
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = { type: response.headers.get('content-type') ?? '', text: await response.text() };
    // Made-up addresses cost calls to Temporal, of which strangers have so many a second.
    if (response.status === 503 && answer.text.includes('gateway_busy') && tries > 1) {
      await sleep(1_000 * Number(response.headers.get('retry-after') ?? 1));
      return send(method, sent, tries - 1);
    }
    return { status: response.status, ...answer };
  }

  describe('answers are as the OpenAPI document says', () => {
    it.each(named(all))(
      '%s',
      async (_name, { path, method, operation }) => {
        const told = async (sent: Sent) => {
          const answer = await send(method, sent);
          const about = `${method} ${sent.path} ${sent.text ?? ''}`.slice(0, 500);
          expect(checker.faults(operation, answer.status, answer.type, answer.text), about).toEqual([]);
          expect(answer.status, `${about} ${answer.text}`).toBeLessThan(500);
          expect(unknownMembers(operation, answer), about).toEqual([]);
          return answer;
        };
        const plain = await told(knownRequest(path, operation, knownTo(operation)));
        if (isReachable(operation, path)) expect(plain.status, plain.text).toBeLessThan(300);
        const requests = requestsOf(document, path, operation, knownTo(operation));
        const property = fc.asyncProperty(requests, async (sent) => void (await told(sent)));
        await fc.assert(property, { numRuns: REQUESTS });
      },
      REQUESTS * 4_000 + 40_000,
    );

    it.each(named(all.filter(({ path }) => path.startsWith('/api/'))))(
      '%s takes no parameter that is not documented',
      async (_name, { path, method, operation }) => {
        const known = knownRequest(path, operation, knownTo(operation)).path;
        const sent = { path: `${known}${known.includes('?') ? '&' : '?'}nonsense=1`, headers: {} };
        expect((await send(method, sent)).status).toBe(400);
      },
    );

    it.each(named(all.filter(({ operation }) => isStrict(operation))))(
      '%s takes no member that is not documented',
      async (_name, { path, method, operation }) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await send(method, {
          path: knownPath(path, knownTo(operation)),
          headers,
          text: '{"nonsense":1}',
        });
        expect(answer.status).toBe(400);
        expect(answer.text).toContain('/nonsense');
      },
    );
  });
}

/** Parameters and members that the document names, and the route does not know. */
function unknownMembers(operation: Operation, { status, text }: { status: number; text: string }): string[] {
  if (status !== 400 || !text.startsWith('{')) return [];
  const { problems = [] } = JSON.parse(text) as { problems?: { code: string; pointer: string }[] };
  const schema = document.components.schemas[bodyId(operation) ?? ''] ?? {};
  const known = [
    ...operation.parameters.map(({ name }) => name.replace(/\[.*/, '')),
    ...Object.keys((schema['properties'] ?? {}) as object),
  ];
  const told = problems.filter(({ code }) => code === 'unknown_member').map(({ pointer }) => pointer.slice(1));
  return told.filter((name) => known.includes(name));
}

function bodyId({ requestBody }: Operation): string | undefined {
  return idOf(requestBody?.content['application/json']?.schema ?? {});
}

function isStrict(operation: Operation): boolean {
  return document.components.schemas[bodyId(operation) ?? '']?.['additionalProperties'] === false;
}

/** A request that is right: to something that is there, and without anything that may be left out. */
function knownRequest(path: string, operation: Operation, values: Known): Sent {
  const least = operation.requestBody?.required === true ? {} : undefined;
  const [body = least] = values[bodyId(operation) ?? BODY] ?? [];
  const query = operation.parameters
    .filter((one) => one.in === 'query' && one.required === true)
    .map(({ name }) => `${name}=${encodeURIComponent(String(values[name]?.[0]))}`);
  return {
    path: `${knownPath(path, values)}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { text: JSON.stringify(body) }),
  };
}

/** The address of something that is there. */
function knownPath(path: string, values: Known): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(values[name]?.[0] ?? 'fuzz')));
}
