import { WorkflowNotFoundError } from '@temporalio/common';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../src/gateway/openapi.ts';
import { openApiDocument } from '../../src/gateway/openapi-document.ts';
import { approvalDefinition, echoDefinition, type TestGateway, testGateway, unique } from './gateway-support.ts';
import { type Document, idOf, Judge, type Known, type Operation, requestsOf, type Sent } from './openapi-requests.ts';

const document = openApiDocument(API_VERSION) as unknown as Document;
const judge = new Judge(document);
const REQUESTS = 25;

let gateway: TestGateway;
let known: Known;
/** Where an operation needs its own: what it ends, others would miss. */
let knownBy: { readonly [operationId: string]: Known };

/** All files of the project share the server, and so this actor, which stays on the task queue of the file that made it. */
async function endOrganization(): Promise<void> {
  const actor = gateway.server.client.workflow.getHandle('org.default');
  await actor.terminate('The next test begins anew.').catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}

beforeAll(async () => {
  gateway = await testGateway();
  await endOrganization();
  const [echo, approval, form, hooked] = [unique('echo'), unique('approval'), unique('form'), unique('hooked')];
  const store = async (json: { [key: string]: unknown }) => {
    const answer = await gateway.request('PUT', `/api/workflows/${String(json['slug'])}`, { json: json as never });
    expect(answer.status).toBe(201);
    return String(answer.body.hash);
  };
  const start = async (workflowId: string) => {
    const json = { workflowId, input: { amount: 3 } };
    const answer = await gateway.request('POST', '/api/triggers/manual/run', { json });
    expect(answer.status).toBe(201);
    return String(answer.body.executionId);
  };
  const several = async <T>(count: number, make: () => Promise<T>) => {
    const made: T[] = [];
    for (let i = 0; i < count; i++) made.push(await make());
    return made;
  };
  const hash = await store(echoDefinition(echo));
  await store(approvalDefinition(approval));
  const ask = { ask: { stepType: 'user_input', config: { message: 'What?' } } };
  await store(echoDefinition(form, { steps: ask }));
  const hook = { name: 'hook', type: 'webhook', config: { path: hooked, scheme: 'none' } };
  await store(echoDefinition(hooked, { triggers: [hook] }));
  const doomed = await several(6, async () => {
    const slug = unique('doomed');
    await store(echoDefinition(slug));
    return slug;
  });
  const ids = [...(await several(6, () => start(approval))), await start(echo)];
  await gateway.request('PUT', '/api/secrets/fuzz', { json: { value: 'fuzz' } });
  const definitions = [echoDefinition(unique('new')), echoDefinition(echo), approvalDefinition(approval)];
  known = {
    id: ids,
    slug: [echo, approval],
    workflowId: [echo],
    name: ['fuzz'],
    place: [hooked],
    page: ['http', 'loop.md', 'expressions'],
    DefinitionDocument: definitions,
    PutSecretRequest: [{ value: 'fuzz' }],
    RunWorkflowRequest: [{ workflowId: echo, input: { a: 1 } }],
    RunInlineRequest: definitions.flatMap((definition) => [{ definition }, { definition, dryRun: true }]),
    DecideRequest: [{ approve: true }, { approve: false, comments: 'no' }],
    SubmitRequest: [{ data: { a: 1 } }],
    EvaluateRequest: [
      { expression: 'a + 1', context: { a: 1 } },
      { template: ['{{ a }}'], context: { a: 1 } },
    ],
    wait: [0, 1],
    status: ['completed', 'waiting,failed'],
    'If-Match': [hash, '*'],
    'If-None-Match': ['*'],
    'Idempotency-Key': ['again'],
  };
  knownBy = {
    putWorkflow: { slug: [echo], DefinitionDocument: [echoDefinition(echo)] },
    deleteWorkflow: { slug: doomed },
    decide: { id: await several(4, () => start(approval)) },
    submit: { id: await several(4, () => start(form)) },
    cancelExecution: { id: await several(4, () => start(approval)) },
    terminateExecution: { id: await several(4, () => start(approval)) },
  };
}, 120_000);
afterAll(async () => {
  await endOrganization();
  await gateway.close();
});

const all = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

async function send(
  method: string,
  { path, headers, text }: Sent,
): Promise<{ status: number; type: string; text: string }> {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
  });
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() };
}

describe('answers are as the OpenAPI document says', () => {
  it.each(all.map((one) => [`${one.method} ${one.path}`, one] as const))(
    '%s',
    async (_name, { path, method, operation }) => {
      const told = async (sent: Sent) => {
        const answer = await send(method, sent);
        expect(judge.faults(operation, answer.status, answer.type, answer.text)).toEqual([]);
        expect(answer.status, answer.text).toBeLessThan(500);
        expect(unknownMembers(operation, answer)).toEqual([]);
        return answer;
      };
      const plain = await told(knownRequest(path, operation));
      if (isReachable(path, method)) expect(plain.status, plain.text).toBeLessThan(300);
      const requests = requestsOf(document, path, operation, knownTo(operation));
      const property = fc.asyncProperty(requests, async (sent) => void (await told(sent)));
      await fc.assert(property, { numRuns: REQUESTS });
    },
    120_000,
  );

  it.each(all.filter(({ path }) => path.startsWith('/api/')).map((one) => [`${one.method} ${one.path}`, one] as const))(
    '%s takes no parameter that is not documented',
    async (_name, { path, method }) => {
      const sent = { path: `${knownPath(path)}?nonsense=1`, headers: {} };
      expect((await send(method, sent)).status).toBe(400);
    },
  );

  it.each(all.filter(({ operation }) => isStrict(operation)).map((one) => [`${one.method} ${one.path}`, one] as const))(
    '%s takes no member that is not documented',
    async (_name, { path, method }) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await send(method, { path: knownPath(path), headers, text: '{"nonsense":1}' });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('/nonsense');
    },
  );
});

/** Parameters and members that the document names, and the route does not know. */
function unknownMembers(operation: Operation, { status, text }: { status: number; text: string }): string[] {
  if (status !== 400 || !text.startsWith('{')) return [];
  const { problems = [] } = JSON.parse(text) as { problems?: { code: string; pointer: string }[] };
  const schema = document.components.schemas[bodyId(operation) ?? ''] ?? {};
  const named = [
    ...operation.parameters.map(({ name }) => name.replace(/\[.*/, '')),
    ...Object.keys((schema['properties'] ?? {}) as object),
  ];
  const told = problems.filter(({ code }) => code === 'unknown_member').map(({ pointer }) => pointer.slice(1));
  return told.filter((name) => named.includes(name));
}

const knownTo = ({ operationId }: Operation): Known => ({ ...known, ...knownBy[operationId] });

function bodyId({ requestBody }: Operation): string | undefined {
  return idOf(requestBody?.content['application/json']?.schema ?? {});
}

function isStrict(operation: Operation): boolean {
  return document.components.schemas[bodyId(operation) ?? '']?.['additionalProperties'] === false;
}

/** What no request can know: the tokens of callbacks. A webhook takes one method. */
function isReachable(path: string, method: string): boolean {
  return !path.startsWith('/callbacks/') && (!path.startsWith('/webhooks/') || method === 'POST');
}

/** A request that is right: to something that is there, and without anything that may be left out. */
function knownRequest(path: string, operation: Operation): Sent {
  const values = knownTo(operation);
  const [body] = values[bodyId(operation) ?? ''] ?? [];
  return {
    path: knownPath(path, values),
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { text: JSON.stringify(body) }),
  };
}

/** The address of something that is there. */
function knownPath(path: string, values: Known = known): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(values[name]?.[0] ?? 'fuzz')));
}
