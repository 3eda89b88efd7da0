// What each way to start a run asks of Temporal about the run and its key: for a first request, for the same again,
// and for its refusal. Most starts are the first with their key, so what is looked for beforehand is few.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type TemporalConnection } from '../../../src/client/temporal/connect.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import type { Json } from '../../../src/json/json.ts';
import { type Call, noting } from '../../bench/scale/calls.ts';
import {
  type Answer,
  echoDefinition,
  type RequestOptions,
  requestTo,
  sharedGateway,
  unique,
} from '../gateway/gateway-support.ts';
import { github, hookedAt, type Members } from './webhook-support.ts';

const first = sharedGateway();
/** A second gateway, whose calls are counted. */
let counted: { url: string; close(): Promise<void> };
let temporal: TemporalConnection;
let calls: Call[] = [];

beforeAll(async () => {
  temporal = await connect(first.server.config, [noting((call) => calls.push(call))]);
  counted = await startGateway(first.server.config, { temporal });
});
afterAll(async () => {
  await counted.close();
  await temporal.close();
});

const SHORT: { readonly [method: string]: string } = {
  StartWorkflowExecution: 'start',
  DescribeWorkflowExecution: 'look',
  GetWorkflowExecutionHistory: 'read',
  SignalWorkflowExecution: 'signal',
  SignalWithStartWorkflowExecution: 'hold',
  TerminateWorkflowExecution: 'end',
};

/** The calls about runs, keys and held payloads, such as `look run`. */
async function asked(path: string, options: RequestOptions): Promise<[Answer, string]> {
  calls = [];
  const answer = await requestTo(counted.url, 'POST', path, options);
  const about = calls.flatMap(({ method, workflowId = '' }) => {
    const [kind = ''] = workflowId.split('.');
    return ['run', 'request', 'debounce'].includes(kind) ? [`${SHORT[method] ?? method} ${kind}`] : [];
  });
  return [answer, about.join(', ')];
}

async function put(more: Members = {}): Promise<string> {
  const slug = unique('counted');
  await first.store(echoDefinition(slug, more));
  return slug;
}

const NUMBER = { input: { n: 'number' } };
const keyed = (key?: string) => (key === undefined ? {} : { headers: { 'idempotency-key': key } });

/** A request that starts a run with an input, with the key or without one. */
type Door = (slug: string, input: Json, key: string | undefined) => [path: string, options: RequestOptions];
const DOORS: { readonly [name: string]: Door } = {
  manual: (workflowId, input, key) => ['/api/triggers/manual/run', { json: { workflowId, input }, ...keyed(key) }],
  'manual, id in the body': (workflowId, input, key = unique('id')) => [
    '/api/triggers/manual/run',
    { json: { workflowId, input, clientRequestId: key } },
  ],
  inline: (slug, input, key) => [
    '/api/executions',
    { json: { definition: echoDefinition(slug, NUMBER), input }, ...keyed(key) },
  ],
  private: (slug, input, key) => [`/api/private/trigger/${slug}`, { json: input, ...keyed(key) }],
  organization: (slug, input, key) => [
    `/api/organizations/default/workflows/${slug}/runs`,
    { json: { payload: input }, ...keyed(key) },
  ],
  'trigger by hand': (slug, input, key) => [`/api/triggers/${slug}.in/run`, { json: { input }, ...keyed(key) }],
};

const LOOK_FIRST = {
  first: 'look run, look request, start request, start run, signal request',
  again: 'look run',
  other: 'look run',
  refused: 'look run, look run',
};
const LOOK_LATE = {
  first: 'start run',
  again: 'start run, look run',
  other: 'start run, look run, look run',
  refused: 'look run',
};

it.each<[string, { first: string; again: string; other: string; refused: string }]>([
  ['manual', LOOK_FIRST],
  ['manual, id in the body', { ...LOOK_FIRST, first: 'look run, start run' }],
  // Its definition is at hand, so its input is checked before anything is asked.
  ['inline', { ...LOOK_FIRST, refused: '' }],
  ['private', LOOK_LATE],
  ['organization', LOOK_LATE],
  // It may have started the orchestrator as well.
  ['trigger by hand', { ...LOOK_LATE, refused: 'look run, look run' }],
])('%s: looks for a key where that is cheaper', async (name, expected) => {
  const door = DOORS[name]!;
  const slug = await put({ ...NUMBER, triggers: [{ name: 'in', type: 'manual' }] });
  const key = unique('key');
  const [begun, calledFirst] = await asked(...door(slug, { n: 1 }, key));
  const [again, calledAgain] = await asked(...door(slug, { n: 1 }, key));
  const [other, calledOther] = await asked(...door(slug, { n: 2 }, key));
  const [refused, calledRefused] = await asked(...door(slug, { n: 'x' }, unique('key')));
  expect([begun, again, other, refused].map(({ status }) => status)).toEqual([201, 200, 422, 422]);
  expect([other.body.code, refused.body.code]).toEqual(['idempotency_conflict', 'invalid_input']);
  expect({ first: calledFirst, again: calledAgain, other: calledOther, refused: calledRefused }).toEqual(expected);
  if (name === 'manual, id in the body') return;
  const [plain, calledPlain] = await asked(...door(slug, { n: 1 }, undefined));
  expect([plain.status, calledPlain]).toEqual([201, 'start run']);
});

it('waits for the result in one call, also in the last second of the time', async () => {
  const slug = await put({ steps: { ask: { stepType: 'approval', config: { message: 'Well?' } } } });
  const executionId = await first.start(slug);
  calls = [];
  const answer = await requestTo(counted.url, 'GET', `/api/executions/${executionId}/result?wait=2`, {});
  expect(answer.status).toBe(202);
  expect(calls.filter(({ method }) => method === 'GetWorkflowExecutionHistory').length).toBeLessThanOrEqual(2);
});

it('a payload that is held claims its key', async () => {
  const slug = await put({ config: { publicStart: true, debounce: { seconds: 2 } } });
  const { publicApiKey } = (await first.request('GET', '/api/public-key')).body;
  const send = (key?: string) =>
    asked(`/api/public/trigger/${publicApiKey}/${slug}`, { json: { n: 1 }, ...keyed(key) });
  const key = unique('key');
  const answers = [await send(), await send(key), await send(key)];
  expect(answers.map(([{ status }, called]) => [status, called])).toEqual([
    [202, 'hold debounce'],
    [202, 'look run, look request, start request, hold debounce, signal request'],
    [202, 'look run, look request, read request'],
  ]);
});

/** The bytes have a key in each time span: the one before is looked up first. */
const TWICE = 'look run, look request, look run, look request';
const SPAN_MS = 5 * 60 * 1000;

it('a delivery counts by its id, by its bytes, or by both', async () => {
  const left = SPAN_MS - (Date.now() % SPAN_MS);
  if (left < 10_000) await new Promise((resolve) => setTimeout(resolve, left));
  const open = await hookedAt(first, {});
  const plain = (headers = {}) => asked(`/webhooks/${open.path}`, { json: { n: 1 }, headers });
  const key = { 'idempotency-key': unique('key') };
  const answers = [await plain(), await plain(), await plain(key), await plain(key)];
  expect(answers.map(([{ status }, called]) => [status, called])).toEqual([
    [202, 'look run, look request, start run'],
    [200, 'look run, look request, start run, look run'],
    [202, 'start run'],
    [200, 'start run, look run'],
  ]);

  const signed = await hookedAt(first, { scheme: 'github', secret: 'a-secret-of-github' });
  const deliver = (n: number, id: string) => {
    const text = JSON.stringify({ n });
    const { 'x-github-delivery': delivery, ...headers } = github('a-secret-of-github', text, id);
    return asked(`/webhooks/${signed.path}`, {
      text,
      headers: id === '' ? headers : { ...headers, 'x-github-delivery': delivery },
    });
  };
  const id = unique('delivery');
  const delivered = [await deliver(1, id), await deliver(1, id), await deliver(1, unique('d')), await deliver(1, '')];
  delivered.push(await deliver(2, ''), await deliver(2, ''));
  expect(delivered.map(([{ status }, called]) => [status, called])).toEqual([
    [202, 'look run, look request, look request, look request, start request, start run, signal request'],
    [200, 'look run, look request'],
    [200, 'look run, look request, look request, look request, read request'],
    [200, `${TWICE}, look request, look request, read request`],
    [202, `${TWICE}, look request, look request, start request, start run, signal request`],
    [200, TWICE],
  ]);
});
