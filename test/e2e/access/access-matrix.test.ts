// Every route with a role, as the route table has it, with every key: no key and no real key gets in; a role below the
// route's is refused; and keys of another organization find nothing and change nothing. Each request is a right one,
// made from the OpenAPI document. A route that no right request can be made for fails.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ROLES, type Role, rolesUpTo } from '../../../src/contract/organization/organization.ts';
import { openApiDocument } from '../../../src/gateway/manual/openapi-document.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import type { Json } from '../../../src/json/json.ts';
import {
  approvalDefinition,
  echoDefinition,
  type TestGateway,
  testGateway,
  unique,
} from '../gateway/gateway-support.ts';
import { type Document, type Known, leastRequest, type Operation, type Sent } from '../gateway/openapi-requests.ts';

/** Stands in whatever acme holds, and in no id. */
const CANARY = 'canary-of-acme';
const ADMIN_KEY = 'an-admin-of-the-environment-0123456789';

interface Subject {
  readonly name: string;
  readonly method: string;
  readonly role: Role;
  readonly sent: Sent;
  /** The request names something of acme. */
  readonly isNaming: boolean;
}

let gateway: TestGateway;
const [acme, bolt] = [unique('acme'), unique('bolt')];
const keys: { [organization: string]: { [role in Role]?: string } } = {};
let subjects: readonly Subject[];
let ids: { readonly [name: string]: string };

const document = openApiDocument(routes) as unknown as Document;

/** Status and body. A stream is not read. */
async function send(method: string, sent: Sent, authorization?: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${gateway.url}${sent.path}`, {
    method,
    headers: { ...sent.headers, ...(authorization === undefined ? {} : { authorization }) },
    ...(sent.text === undefined ? {} : { body: sent.text }),
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return { status: response.status, text: await response.text() };
  await response.body?.cancel();
  return { status: response.status, text: '' };
}
const bearer = (organization: string, role: Role) => `Bearer ${keys[organization]?.[role]}`;

async function makeKeys(organization: string): Promise<void> {
  const made: { [role in Role]?: string } = {};
  const create = async (role: Role, authorization: string, more: { [name: string]: Json }) => {
    const json = { name: unique(role), role, ...more };
    const { status, body } = await gateway.request('POST', '/api/keys', { json, headers: { authorization } });
    expect(status, JSON.stringify(body)).toBe(201);
    return body.key as string;
  };
  made.admin = await create('admin', `Bearer ${ADMIN_KEY}`, { organization });
  for (const role of ROLES.slice(0, -1)) made[role] = await create(role, `Bearer ${made.admin}`, {});
  keys[organization] = made;
}

/** Something of acme of each kind, and the ids by which requests name it. */
async function makeWorld(): Promise<Known> {
  const as = async (method: string, path: string, json?: Json) => {
    const headers = { authorization: bearer(acme, 'admin') };
    const { status, body } = await gateway.request(method, path, { headers, ...(json === undefined ? {} : { json }) });
    expect(status, `${method} ${path} ${JSON.stringify(body)}`).toBeLessThan(300);
    return body;
  };
  const slug = unique('refund');
  const named = { name: CANARY, description: CANARY, constraints: { allowSelfModification: true } };
  const definition = approvalDefinition(slug, named);
  const { hash } = await as('PUT', `/api/workflows/${slug}`, definition);
  const name = unique('main');
  await as('PUT', `/api/secrets/${name}`, { value: CANARY });
  await as('PUT', `/api/models/${name}`, { provider: 'openai', model: CANARY, apiKeySecret: name });
  await as('PUT', `/api/mcp-servers/${name}`, { url: `https://${CANARY}.example.com/mcp` });
  const config = { cron: '0 3 * * *' };
  const trigger = await as('POST', '/api/triggers', {
    name: unique('night'),
    workflowId: slug,
    type: 'schedule',
    config,
  });
  const run = await as('POST', '/api/triggers/manual/run', { workflowId: slug, input: { amount: 3, note: CANARY } });
  const { id: recording } = await as('POST', '/api/recordings', { name: CANARY });
  await as('POST', `/api/recordings/${recording}/steps`, { name, action: { return: true }, input: { a: 1 } });
  const proposed = { baseWorkflowHash: hash, proposal: { ...definition, description: `${CANARY} proposed` } };
  const proposal = await as('POST', `/api/workflows/${slug}/proposals`, proposed);
  const { id: key } = await as('POST', '/api/keys', { name: unique('key'), role: 'viewer' });
  const isListed = async () => (await as('GET', '/api/executions?status=waiting')).items.length > 0;
  await vi.waitUntil(isListed, { timeout: 30_000, interval: 100 });
  const execution = run.executionId as string;
  ids = { slug, hash, name, execution, recording, key, acme, trigger: trigger.id, proposal: proposal.id };
  const own = echoDefinition(unique('own'));
  return {
    slug: [slug],
    workflowId: [slug],
    executionId: [execution],
    run: [execution],
    path: ['review'],
    hash: [hash],
    from: [hash],
    to: [hash],
    org: [acme],
    name: [name],
    scope: ['organization'],
    operation: [`bulk.${acme}.cancel.01ARZ3NDEKTSV4RRFFQ69G5FAV`],
    DefinitionDocument: [own],
    RunInlineRequest: [{ definition: own, dryRun: true }],
    RunWorkflowRequest: [{ workflowId: slug }],
    RunBulkRequest: [{ action: 'cancel', filter: { workflowId: slug } }],
    ForkExecutionRequest: [{ from: 'review' }],
    DecideRequest: [{ approve: true }],
    EvaluateRequest: [{ expression: '1 + 1' }],
    CreateTriggerRequest: [{ name: 'own', workflowId: slug, type: 'manual' }],
    BackfillTriggerRequest: [{ start: '2026-01-15T10:00:00Z', end: '2026-01-15T11:00:00Z' }],
    SyncWorkflowRequest: [{ workflow: own, source: 'own' }],
    SyncAllWorkflowsRequest: [{ workflows: [], source: 'own' }],
    PatchWorkflowRequest: [{ enabled: false }],
    ProposeRequest: [proposed],
    ReviewProposalRequest: [{ decision: 'approve' }],
    RollBackWorkflowRequest: [{ workflowHash: hash }],
    PutLimitRequest: [{ limit: 10_000 }],
    PutSecretRequest: [{ value: 'of the caller' }],
    CreateKeyRequest: [{ name: 'own', role: 'viewer' }],
    ConfirmReferencesRequest: [{ items: [{ step: name, pointer: '/a', reference: '@input.a' }] }],
    AppendRecordedStepRequest: [{ action: { return: true } }],
    EncodePayloadsRequest: [{ payloads: [{ data: 'YQ==' }] }],
    DecodePayloadsRequest: [{ payloads: [{ data: 'YQ==' }] }],
    RecordingMcpRequest: [{ jsonrpc: '2.0', id: 1, method: 'ping' }],
    McpRequest: [{ jsonrpc: '2.0', id: 1, method: 'ping' }],
  };
}

/** What `{id}` is, by the beginning of the path, and bodies without a name. */
function knownOf(path: string, operation: Operation, known: Known): Known {
  const kind = path.includes('/proposals/') ? 'proposal' : /\/(trigger|recording|key|inbox)/.exec(path)?.[1];
  const id = kind === 'inbox' ? `msg_${'0'.repeat(32)}` : ids[kind ?? 'execution'];
  const bodies: { readonly [operationId: string]: Json } = {
    putModel: { provider: 'openai', model: 'of the caller' },
    putMcpServer: { url: 'https://example.org/mcp' },
  };
  const body = bodies[operation.operationId];
  return {
    ...known,
    id: [id],
    ...(body === undefined ? {} : { body: [body] }),
    ...(operation.operationId === 'putWorkflow' ? { DefinitionDocument: [echoDefinition(ids['slug'] ?? '')] } : {}),
  };
}

function subjectsOf(known: Known): Subject[] {
  const unmade: string[] = [];
  const made = routes.flatMap(({ role, id, method }): Subject[] => {
    if (role === 'public') return [];
    const found = Object.entries(document.paths)
      .flatMap(([path, methods]) => Object.values(methods).map((operation) => ({ path, operation })))
      .find(({ operation }) => operation.operationId === id);
    try {
      if (found === undefined) throw new Error('it is not in the OpenAPI document');
      const sent = leastRequest(document, found.path, found.operation, knownOf(found.path, found.operation, known));
      const isNaming = Object.values(ids).some((one) => `${sent.path} ${sent.text ?? ''}`.includes(one));
      return [{ name: `${method} ${found.path}`, method, role, sent, isNaming }];
    } catch (error) {
      unmade.push(`${method} ${id}: ${String(error)}`);
      return [];
    }
  });
  expect(unmade).toEqual([]);
  return made;
}

/** Everything that acme has, as it sees it itself. */
async function holdings(): Promise<string> {
  const { slug, execution, recording } = ids;
  const lists = ['workflows', 'secrets', 'triggers', 'models', 'mcp-servers', 'limits', 'approvals', 'executions'];
  const paths = [
    ...[...lists, 'inbox', 'recordings', 'keys', 'public-key'].map((list) => `/api/${list}`),
    `/api/workflows/${slug}`,
    `/api/workflows/${slug}/history`,
    `/api/workflows/${slug}/proposals`,
    `/api/executions/${execution}`,
    `/api/recordings/${recording}`,
  ];
  const answers = await Promise.all(paths.map((path) => send('GET', { path, headers: {} }, bearer(acme, 'admin'))));
  for (const [n, { status, text }] of answers.entries()) expect(status, `${paths[n]} ${text}`).toBe(200);
  return answers.map(({ text }) => text.replaceAll(/,"lastUsedAt":"[^"]*"/g, '')).join('\n');
}

/** Tries all requests that `keysOf` gives keys for, and says what is not as `fault` wants it. */
async function faultsOf(
  some: readonly Subject[],
  keysOf: (subject: Subject) => readonly (string | undefined)[],
  fault: (subject: Subject, answer: { status: number; text: string }) => boolean,
): Promise<{ tried: number; faults: string[] }> {
  const faults: string[] = [];
  let tried = 0;
  for (const subject of some) {
    const { name, method, sent } = subject;
    const answers = await Promise.all(keysOf(subject).map((key) => send(method, sent, key)));
    tried += answers.length;
    for (const answer of answers)
      if (fault(subject, answer)) faults.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  return { tried, faults };
}

const codeOf = (text: string): unknown => (text.startsWith('{') ? JSON.parse(text).code : undefined);

beforeAll(async () => {
  gateway = await testGateway({
    SIGNALBOX_ADMIN_KEY: ADMIN_KEY,
    SIGNALBOX_RATE_KEY: '0',
    SIGNALBOX_RATE_ORGANIZATION: '0',
    SIGNALBOX_RATE_ADDRESS: '0',
  });
  await makeKeys(acme);
  await makeKeys(bolt);
  subjects = subjectsOf(await makeWorld());
}, 60_000);
afterAll(() => gateway.close());

it('no key, a forged key and a garbage key get nobody in', async () => {
  const forged = `Bearer sbk_${acme}_${randomBytes(6).toString('hex')}_${randomBytes(32).toString('base64url')}`;
  const before = await holdings();
  const { tried, faults } = await faultsOf(
    subjects,
    () => [undefined, forged, 'Bearer garbage'],
    (_subject, { status }) => status !== 401,
  );
  expect(faults).toEqual([]);
  expect(tried).toBe(3 * subjects.length);
  expect(await holdings()).toBe(before);
}, 120_000);

it('a role below the one of the route is refused, and changes nothing', async () => {
  const before = await holdings();
  const below = (role: Role) => rolesUpTo(role).slice(0, -1);
  const { tried, faults } = await faultsOf(
    subjects,
    ({ role }) => below(role).map((held) => bearer(acme, held)),
    (_subject, { status, text }) => status !== 403 || codeOf(text) !== 'role_required',
  );
  expect(faults).toEqual([]);
  expect(tried).toBe(subjects.reduce((sum, { role }) => sum + below(role).length, 0));
  expect(tried).toBeGreaterThan(150);
  expect(await holdings()).toBe(before);
}, 120_000);

it('what acme reads by these requests is there', async () => {
  // No server of tools listens, no bulk operation ran, and metrics are of the whole gateway.
  const others = new Set(['GET /api/mcp-servers/{name}/tools', 'GET /api/executions/bulk/{operation}', 'GET /metrics']);
  const reading = subjects.filter(({ method, name }) => method === 'GET' && !others.has(name));
  const { faults } = await faultsOf(
    reading,
    () => [bearer(acme, 'admin')],
    (_subject, { status }) => status >= 300,
  );
  expect(faults).toEqual([]);
}, 60_000);

it('keys of another organization find nothing of acme, and change nothing of it', async () => {
  const before = await holdings();
  expect(before).toContain(CANARY);
  // What stores something under a name stores it in the organization of the caller, so it comes last.
  const order = ({ method, isNaming }: Subject): number =>
    method === 'GET' ? 0 : isNaming && method !== 'PUT' ? 1 : 2;
  const sorted = [...subjects].sort((a, b) => order(a) - order(b));
  const own = (subject: Subject): boolean => order(subject) === 2 || subject.name === 'POST /api/executions/bulk';
  const { tried, faults } = await faultsOf(
    sorted,
    ({ role }) => ROLES.slice(ROLES.indexOf(role)).map((held) => bearer(bolt, held)),
    (subject, { status, text }) => {
      if (text.includes(CANARY) || status >= 500) return true;
      if (subject.isNaming && !own(subject)) return status !== 404;
      // A request that is not a right one would say nothing.
      return status >= 300 && status !== 404 && status !== 409 && status !== 412;
    },
  );
  expect(faults).toEqual([]);
  expect(tried).toBeGreaterThan(300);
  expect(await holdings()).toBe(before);
}, 240_000);
