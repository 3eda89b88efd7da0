// A gateway that is killed between a write and its response (THREATS.md): a repeated request to another gateway finds
// the result, and nothing is done twice.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';
import type { Json } from '../../../src/json/json.ts';
import { ResponseDroppingProxy } from '../../support/response-dropping-proxy.ts';
import { until } from '../../support/stack.ts';
import { type Answer, echoDefinition, requestTo, sharedGateway, unique } from './gateway-support.ts';

const ADMIN = 'an-admin-of-the-environment-0123456789';
const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });
let proxy: ResponseDroppingProxy;
let doomed: { child: ChildProcess; url: string };
beforeAll(async () => {
  proxy = new ResponseDroppingProxy(gateway.server.config.temporal.address ?? '');
  doomed = await gatewayProcess(await proxy.open());
});
afterAll(async () => {
  doomed.child.kill('SIGKILL');
  await proxy.close();
});

/** `signalbox start --only gateway`, with its calls to Temporal through the proxy. */
async function gatewayProcess(address: string): Promise<{ child: ChildProcess; url: string }> {
  const env = { ...gateway.server.env, TEMPORAL_ADDRESS: address };
  const child = spawn(process.execPath, [join(compiledRoot(), 'src/cli/main.js'), 'start', '--only', 'gateway'], {
    env,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
  const url = () => /The gateway listens at (http:\S+?)\. /.exec(said)?.[1];
  await until(`the gateway listens: ${said}`, 30_000, () => url() !== undefined || child.exitCode !== null);
  return { child, url: url() ?? said };
}

interface Asked {
  readonly path: string;
  readonly json: Json;
  readonly key?: string;
}
const send = (url: string, { path, json, key }: Asked): Promise<Answer> =>
  requestTo(url, 'POST', path, {
    json,
    headers: { authorization: `Bearer ${ADMIN}`, ...(key === undefined ? {} : { 'idempotency-key': key }) },
  });
const again = (asked: Asked): Promise<Answer> => send(gateway.url, asked);
const get = async (path: string) => (await gateway.request('GET', path)).body;
const runsOf = async (slug: string, count: number) =>
  (await gateway.until(`/api/workflows/${slug}/executions`, ({ body }) => body.items.length >= count)).body.items;

/** Asks the doomed gateway, and resolves when Temporal has done it; `said`: what only the call in question says. */
async function doneUnanswered(asked: Asked, said: string): Promise<void> {
  const done = proxy.dropResponse(said);
  const answer = send(doomed.url, asked).then(
    ({ status, body }) => Promise.reject(new Error(`${asked.path} was answered: ${status} ${JSON.stringify(body)}`)),
    // It was killed.
    () => undefined,
  );
  await Promise.race([done, answer]);
}

describe('a gateway that is killed before it answers', () => {
  it('has applied the request once, whichever gateway gets it again', async () => {
    const path = unique('hook');
    const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
    const echo = await gateway.store(echoDefinition(unique('echo'), { triggers }));
    const modifiable = { constraints: { allowSelfModification: true, proposerMayReview: true } };
    const open = await gateway.store(echoDefinition(unique('proposed'), modifiable));
    const ask = { stepType: 'approval', config: { message: 'Well?', requesterMayApprove: true } };
    const asks = await gateway.store(echoDefinition(unique('asks'), { steps: { ask } }));
    const waiting = async (): Promise<string> => {
      const { executionId } = (await again({ path: '/api/triggers/manual/run', json: { workflowId: asks } })).body;
      await gateway.until(`/api/executions/${executionId}`, ({ body }) => body.status === 'waiting');
      return executionId;
    };
    const [executionId, ended] = [await waiting(), await waiting()];
    const base = (await get(`/api/workflows/${open}`)).hash;
    const changed = (what: string) => echoDefinition(open, { ...modifiable, description: what });
    const proposals = `/api/workflows/${open}/proposals`;
    const approved = (await again({ path: proposals, json: { baseWorkflowHash: base, proposal: changed('a') } })).body;
    await again({ path: `${proposals}/${approved.id}/review`, json: { decision: 'approve' } });

    const key = unique('key');
    const start = (how: string): Asked => ({
      path: '/api/triggers/manual/run',
      json: { workflowId: echo, input: { how }, ...(how === 'by id' ? { clientRequestId: key } : {}) },
      ...(how === 'by id' ? {} : { key: `${key} of the start` }),
    });
    const marked = (asked: Asked, said: string) => ({ asked, said });
    const all = {
      byId: marked(start('by id'), '"how":"by id"'),
      byKey: marked(start('by key'), '"how":"by key"'),
      delivery: marked({ path: `/webhooks/${path}`, json: { delivery: 'the only one' } }, 'the only one'),
      event: marked({ path: '/api/events', json: { name: key, id: key, data: {} } }, `"id":"${key}"`),
      decision: marked(
        { path: `/api/executions/${executionId}/approve`, json: { approve: true, comments: 'the decision' }, key },
        'the decision',
      ),
      proposal: marked(
        { path: proposals, json: { baseWorkflowHash: base, proposal: changed('b'), notes: 'the proposal' }, key },
        'the proposal',
      ),
      madeKey: marked({ path: '/api/keys', json: { name: 'the made key', role: 'viewer' }, key }, 'the made key'),
      trigger: marked(
        { path: '/api/triggers', json: { workflowId: echo, name: 'the trigger', type: 'manual' }, key },
        '"name":"the trigger"',
      ),
      end: marked({ path: `/api/executions/${ended}/terminate`, json: { reason: 'the end' }, key }, 'the end'),
      bulk: marked(
        {
          path: '/api/executions/bulk',
          json: { action: 'terminate', filter: { workflowId: unique('none') }, reason: 'the bulk' },
          key,
        },
        'the bulk',
      ),
      retries: marked(
        {
          path: '/api/executions/bulk',
          json: { action: 'retry', filter: { workflowId: unique('none') } },
          key: `${key}2`,
        },
        'bulkRetry',
      ),
    };
    await Promise.all(Object.values(all).map(({ asked, said }) => doneUnanswered(asked, said)));
    // Last, since it makes the other proposal stale.
    const apply: Asked = { path: `${proposals}/${approved.id}/apply`, json: {}, key };
    await doneUnanswered(apply, `"proposalId":"${approved.id}"`);
    doomed.child.kill('SIGKILL');
    await new Promise((resolve) => doomed.child.once('exit', resolve));
    const killedAt = Date.now();

    // A request whose gateway died is handled again 15 seconds after its last heartbeat.
    expect(await again(all.trigger.asked)).toMatchObject({ status: 409, body: { code: 'request_in_flight' } });

    const { byId, byKey, delivery, event } = all;
    for (const { asked } of [byId, byKey, delivery]) {
      const found = await again(asked);
      expect(found.status, asked.path).toBe(200);
      expect(await again(asked)).toMatchObject({ status: 200, body: { executionId: found.body.executionId } });
    }
    expect(new Set((await runsOf(echo, 3)).map(({ id }: { id: string }) => id)).size).toBe(3);
    expect((await again(event.asked)).status).toBe(200);

    await new Promise((resolve) => setTimeout(resolve, Math.max(0, killedAt + 16_000 - Date.now())));

    expect(await again(all.decision.asked)).toMatchObject({
      status: 200,
      body: { path: 'ask', decision: 'approved' },
    });
    expect(await again(all.end.asked)).toMatchObject({ status: 202, body: { status: 'aborted' } });
    expect((await again({ ...all.end.asked, key: unique('key') })).status).toBe(409);
    const proposed = await again(all.proposal.asked);
    expect(proposed).toMatchObject({ status: 201, body: { notes: 'the proposal' } });
    expect((await get(proposals)).items.map(({ id }: { id: string }) => id)).toEqual([proposed.body.id, approved.id]);
    const made = await again(all.madeKey.asked);
    expect(made.status).toBe(201);
    const listed = (await get('/api/keys?limit=1000')).items.filter(
      ({ name }: { name: string }) => name === made.body.name,
    );
    expect(listed).toMatchObject([{ id: made.body.id }]);
    const shown = { headers: { authorization: `Bearer ${made.body.key}` } };
    expect((await gateway.request('GET', '/api/workflows', shown)).status).toBe(200);
    expect(await again(all.trigger.asked)).toMatchObject({ status: 201, body: { id: `${echo}.the trigger` } });
    for (const { asked } of [all.bulk, all.retries]) {
      const begun = await again(asked);
      expect(begun.status).toBe(202);
      expect(await again(asked)).toMatchObject({ status: 202, body: { operationId: begun.body.operationId } });
    }
    expect(await again(apply)).toMatchObject({
      status: 200,
      body: { proposal: { status: 'applied' }, workflow: { version: '1.0.1', hash: approved.proposalHash } },
    });
    expect((await get(`/api/workflows/${open}/history`)).items).toHaveLength(2);
    const other = { ...all.trigger.asked, json: { workflowId: echo, name: 'another', type: 'manual' } };
    expect((await again(other)).status).toBe(422);
  }, 120_000);
});
