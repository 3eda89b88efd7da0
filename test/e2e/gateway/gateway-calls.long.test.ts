// How many calls to Temporal an operation takes, and what the gateway may remember between two of them.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect, type TemporalConnection } from '../../../src/client/temporal/connect.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import { quiet } from '../../bench/scale/calls.ts';
import {
  type Answer,
  approvalDefinition,
  echoDefinition,
  type RequestOptions,
  requestTo,
  sharedGateway,
  unique,
} from './gateway-support.ts';

const first = sharedGateway();
/** A second gateway, whose calls are counted. */
let counted: { url: string; close(): Promise<void> };
let temporal: TemporalConnection;
let calls: string[] = [];
/** How long each call that records a change takes more, in milliseconds. */
let recordsTakeMs = 0;
const RECORD = 'SignalWithStartWorkflowExecution';
const ADMIN = 'an-admin-key-of-enough-characters';
const IN_BACKGROUND = new Set(['GetSystemInfo', 'ListWorkers', 'DescribeTaskQueue', 'DescribeNamespace']);

beforeAll(async () => {
  temporal = await connect(first.server.config, [
    (options, next) => {
      const method = options.method_definition.path.split('/').at(-1) ?? '';
      if (!IN_BACKGROUND.has(method)) calls.push(method);
      const call = next(options);
      if (method !== RECORD || recordsTakeMs === 0) return call;
      const send = call.sendMessageWithContext.bind(call);
      const close = call.halfClose.bind(call);
      call.sendMessageWithContext = (context, message) => setTimeout(() => send(context, message), recordsTakeMs);
      call.halfClose = () => setTimeout(close, recordsTakeMs);
      return call;
    },
  ]);
  // With this key nobody asks Temporal whether there are keys.
  counted = await startGateway({ ...first.server.config, adminKey: ADMIN }, { temporal });
});
afterAll(async () => {
  await counted.close();
  await temporal.close();
});

const ask = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
  requestTo(counted.url, method, path, {
    ...options,
    headers: { authorization: `Bearer ${ADMIN}`, ...options.headers },
  });

/** The answer, and the calls until it came. Before, the gateway has read again what was in use. */
async function counting(act: () => Promise<Answer>): Promise<[Answer, string[]]> {
  await quiet(() => calls.length);
  return countingNow(act);
}

async function countingNow(act: () => Promise<Answer>): Promise<[Answer, string[]]> {
  calls = [];
  const answer = await act();
  return [answer, calls];
}

const start = (slug: string, input = {}) =>
  ask('POST', '/api/triggers/manual/run', { json: { workflowId: slug, input } });

describe('calls to Temporal', () => {
  it('are one for a start, whose definition was read a moment ago, and one for the result', async () => {
    const slug = unique('counted');
    expect((await ask('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) })).status).toBe(201);
    // On a busy machine a start may take longer than the definition is remembered.
    let executionId = '';
    await vi.waitFor(async () => {
      await start(slug);
      const [started, toStart] = await countingNow(() => start(slug));
      expect(started.status).toBe(201);
      expect(toStart).toEqual(['StartWorkflowExecution']);
      executionId = started.body.executionId;
    }, 20_000);
    const [result, toRead] = await counting(() => ask('GET', `/api/executions/${executionId}/result?wait=20`));
    expect(result).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect(toRead).toEqual(['GetWorkflowExecutionHistory']);
    // Read by a gateway that has not started the run.
    expect((await first.request('GET', `/api/executions/${executionId}/result?wait=20`)).body).toEqual(result.body);
  });

  it('are one for a start under limits too, and few more with many definitions', async () => {
    const limits = '/api/limits/organization';
    expect((await ask('PUT', limits, { json: { limit: 500, overflow: 'queue' } })).status).toBeLessThan(300);
    try {
      const slugs = Array.from({ length: 6 }, () => unique('many'));
      for (const slug of slugs) await ask('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
      for (const slug of slugs) await start(slug);
      const begun = Date.now();
      calls = [];
      const runs = 24;
      for (let index = 0; index < runs; index++) expect((await start(slugs[index % 6] ?? '')).status).toBe(201);
      const seconds = Math.ceil((Date.now() - begun) / 1_000);
      expect(calls.filter((call) => call === 'StartWorkflowExecution').length).toBe(runs);
      // Each definition is read once a second at most, and the limits of the organization every five seconds.
      expect(calls.length - runs).toBeLessThanOrEqual((slugs.length + 1) * seconds);
      expect(calls).not.toContain('ExecuteMultiOperation');
    } finally {
      await ask('DELETE', limits);
    }
  });

  it('are two for a decision: the record before it, and the decision', async () => {
    const slug = unique('decided');
    await ask('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    const json = { workflowId: slug, input: { amount: 7 } };
    const { executionId } = (await first.request('POST', '/api/triggers/manual/run', { json })).body;
    await first.until(`/api/executions/${executionId}`, ({ body }) => body.status === 'waiting');
    // The audit finds its actor once.
    await ask('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    const [decided, toDecide] = await counting(() =>
      ask('POST', `/api/executions/${executionId}/approve`, { json: { approve: true } }),
    );
    expect(decided).toMatchObject({ status: 200, body: { path: 'review', recorded: 'decision' } });
    expect(toDecide.slice(0, 2)).toEqual([RECORD, 'UpdateWorkflowExecution']);
    // The record of the outcome may have begun.
    expect(toDecide.slice(2)).toEqual(toDecide.slice(2).map(() => 'SignalWorkflowExecution'));
    expect(toDecide.length).toBeLessThanOrEqual(3);
    const [result, toRead] = await counting(() => ask('GET', `/api/executions/${executionId}/result?wait=20`));
    expect(result.body.output).toEqual({ paid: 7 });
    expect(toRead.filter((call) => call !== 'SignalWorkflowExecution')).toEqual(['GetWorkflowExecutionHistory']);
  });

  it('record the changes of many requests together, each with its outcome', async () => {
    const prefix = unique('together');
    const names = Array.from({ length: 60 }, (_, index) => `${prefix}-${index}`);
    calls = [];
    // Where a record takes no time, nobody waits who could go along with the next one.
    recordsTakeMs = 200;
    const answers = await Promise.all(
      names.map((name) => ask('PUT', `/api/secrets/${name}`, { json: { value: `the-secret-${name}` } })),
    );
    recordsTakeMs = 0;
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    expect(calls.filter((call) => call === RECORD).length).toBeLessThan(names.length / 2);
    const ours = ({ body }: Answer): { target: { name: string }; outcome: string }[] =>
      body.items.filter(({ target }: { target: { name?: string } }) => target.name?.startsWith(prefix) === true);
    const audit = () => ask('GET', '/api/audit?limit=200').then(ours);
    await expect
      .poll(async () => (await audit()).filter(({ outcome }) => outcome === 'done').length)
      .toBe(names.length);
    expect(new Set((await audit()).map(({ target }) => target.name))).toEqual(new Set(names));
    await Promise.all(names.map((name) => ask('DELETE', `/api/secrets/${name}`)));
  });

  it('are one for the first page of a list, also where it has ended runs', async () => {
    const slug = unique('listed');
    await ask('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    await start(slug);
    await first.until(`/api/executions?workflowId=${slug}&status=completed`, ({ body }) => body.items.length === 1);
    for (const query of ['', `?workflowId=${slug}`]) {
      const [page, toList] = await counting(() => ask('GET', `/api/executions${query}`));
      expect(page.body.items.length).toBeGreaterThan(0);
      expect(toList).toEqual(['ListWorkflowExecutions']);
    }
  });

  it('say of a run that does not exist or has ended which of both it is', async () => {
    const missing = await ask('POST', '/api/executions/run.default.none.01/approve', { json: { approve: true } });
    expect(missing).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const result = await ask('GET', '/api/executions/run.default.none.01/result?wait=1');
    expect(result).toMatchObject({ status: 404, body: { code: 'not_found', detail: missing.body.detail } });
    const slug = unique('ended');
    await ask('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const { executionId } = (await start(slug)).body;
    await ask('GET', `/api/executions/${executionId}/result?wait=20`);
    for (const action of ['approve', 'submit']) {
      const json = action === 'approve' ? { approve: true } : { data: 1 };
      const late = await ask('POST', `/api/executions/${executionId}/${action}`, { json });
      expect(late, action).toMatchObject({ status: 409, body: { code: 'closed' } });
    }
  });
});

describe('a definition that was read a moment ago', () => {
  it('starts no run once this gateway has disabled, changed or deleted it', async () => {
    const slug = unique('remembered');
    const put = (definition: object) => ask('PUT', `/api/workflows/${slug}`, { json: { ...definition } as never });
    await put(echoDefinition(slug));
    expect((await start(slug)).status).toBe(201);
    await put({ ...echoDefinition(slug), enabled: false });
    expect(await start(slug)).toMatchObject({ status: 409, body: { code: 'workflow_disabled' } });
    await put({ ...echoDefinition(slug), description: 'again' });
    expect((await start(slug)).status).toBe(201);
    await ask('DELETE', `/api/workflows/${slug}`);
    expect((await start(slug)).status).toBe(404);
  });

  it('starts no run a second after another gateway has disabled it', async () => {
    const slug = unique('elsewhere');
    await first.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    expect((await start(slug)).status).toBe(201);
    const tag = (await first.request('GET', `/api/workflows/${slug}`)).headers.get('etag');
    const changed = { ...echoDefinition(slug), enabled: false, description: 'theirs' };
    await first.request('PUT', `/api/workflows/${slug}`, { json: changed });
    // Conditions compare with the actor itself.
    const stale = await ask('PUT', `/api/workflows/${slug}`, {
      json: { ...echoDefinition(slug), description: 'mine' },
      headers: { 'if-match': tag ?? '' },
    });
    expect(stale.status).toBe(412);
    await expect.poll(() => start(slug).then(({ status }) => status)).toBe(409);
  });
});

describe('the history of a run that the gateway started', () => {
  it('has no event for what the start has shown already', async () => {
    const slug = unique('quiet');
    await ask('PUT', `/api/workflows/${slug}`, {
      json: { name: 'Quiet', slug, steps: { a: { stepType: 'sleep', config: { duration: '50ms' } } } },
    });
    const { executionId } = (await start(slug)).body;
    await ask('GET', `/api/executions/${executionId}/result?wait=20`);
    const history = await temporal.client.workflow.getHandle(executionId).fetchHistory();
    const memos = (history.events ?? []).filter((event) => event.workflowPropertiesModifiedEventAttributes);
    // That it waits, and that it waits no longer.
    expect(memos.length).toBeLessThanOrEqual(2);
    const steps = unique('steps');
    await ask('PUT', `/api/workflows/${steps}`, { json: echoDefinition(steps) });
    const run = (await start(steps)).body.executionId;
    await ask('GET', `/api/executions/${run}/result?wait=20`);
    const short = await temporal.client.workflow.getHandle(run).fetchHistory();
    expect((short.events ?? []).filter((event) => event.workflowPropertiesModifiedEventAttributes)).toEqual([]);
  });
});
