// Keys of requests are their callers' own: two people who happen to use the same one ask for two things.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
const people = new Map<string, string>();
beforeAll(async () => {
  for (const name of ['ann', 'bob']) {
    const { body } = await gateway.request('POST', '/api/keys', { json: { name, role: 'editor' } });
    people.set(name, body.key);
  }
});

const as = (name: string, path: string, json: Json = {}) =>
  gateway.request('POST', path, {
    json,
    headers: { authorization: `Bearer ${people.get(name)}`, 'idempotency-key': 'the same' },
  });
const stored = async (steps?: Json): Promise<string> => {
  const slug = unique('keyed');
  const more = steps === undefined ? {} : { steps };
  await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, more) });
  return slug;
};
const started = async (workflowId: string): Promise<string> => {
  const id = await gateway.start(workflowId);
  await gateway.until(`/api/executions/${id}`, (answer) => answer.body.status === 'waiting');
  return `/api/executions/${id}`;
};
const outputOf = async (path: string) => (await gateway.request('GET', `${path}/result?wait=20`)).body.output;

describe('a key that two people use', () => {
  it('is two runs of a trigger, each answered the same again, also when the trigger is gone', async () => {
    const slug = await stored();
    const made = { workflowId: slug, name: 'by hand', type: 'manual' };
    await gateway.request('POST', '/api/triggers', { json: made });
    const path = `/api/triggers/${slug}.by%20hand/run`;
    const first = { ann: await as('ann', path), bob: await as('bob', path) };
    expect([first.ann.status, first.bob.status]).toEqual([201, 201]);
    expect(first.ann.body.executionId).not.toBe(first.bob.body.executionId);
    const again = async () => {
      for (const name of ['ann', 'bob'] as const) {
        const { executionId } = first[name].body;
        expect(await as(name, path)).toMatchObject({ status: 200, body: { executionId } });
      }
    };
    await again();
    expect((await as('ann', path, { input: { other: true } })).body.code).toBe('idempotency_conflict');
    await gateway.request('DELETE', `/api/triggers/${slug}.by%20hand`);
    await again();
  });

  it('is two votes, two messages and two forks', async () => {
    const ask = { stepType: 'approval', config: { message: 'Well?', quorum: 2 }, nextSteps: { approved: 'hear' } };
    const hear = { stepType: 'listen', config: { name: 'm', count: 2 } };
    const path = await started(await stored({ ask, hear }));
    for (const name of ['ann', 'bob']) expect((await as(name, `${path}/approve`, { approve: true })).status).toBe(200);
    for (const name of ['ann', 'bob']) expect((await as(name, `${path}/messages/m`, name)).status).toBe(202);
    expect(await outputOf(path)).toEqual(['ann', 'bob']);
    const forks = [
      await as('ann', `${path}/fork`, { from: 'hear' }),
      await as('bob', `${path}/fork`, { from: 'hear' }),
    ];
    expect(forks.map(({ status }) => status)).toEqual([201, 201]);
    expect(forks[0]?.body.executionId).not.toBe(forks[1]?.body.executionId);
  });

  it('is two messages where it comes with two names', async () => {
    const hear = (name: string): Json => ({ stepType: 'listen', config: { name, timeout: '20s' } });
    const path = await started(
      await stored({ one: { ...(hear('one') as object), nextSteps: { received: 'two' } }, two: hear('two') }),
    );
    for (const name of ['one', 'two']) expect((await as('ann', `${path}/messages/${name}`, name)).status).toBe(202);
    expect(await gateway.request('GET', `${path}/result?wait=20`)).toMatchObject({ body: { status: 'completed' } });
  });
});

describe('a request with a key', () => {
  it('is answered as before whatever has become of what it changed', async () => {
    const path = await started(await stored({ ask: { stepType: 'approval', config: { message: 'Well?' } } }));
    const ended = async (first: Awaited<ReturnType<typeof as>>, what: string, json?: Json) =>
      expect(await as('ann', `${path}/${what}`, json), what).toMatchObject({ status: first.status, body: first.body });
    const message = await as('ann', `${path}/messages/m`, 'hello');
    const cancelled = await as('ann', `${path}/cancel`);
    expect([message.status, cancelled.status]).toEqual([202, 202]);
    await outputOf(path);
    await ended(message, 'messages/m', 'hello');
    await ended(cancelled, 'cancel');
    expect((await as('bob', `${path}/cancel`)).body.code).toBe('closed');

    const other = await started(await stored({ ask: { stepType: 'approval', config: { message: 'Well?' } } }));
    const terminated = await as('ann', `${other}/terminate`);
    const retried = await as('ann', `${other}/retry`);
    expect([terminated.status, retried.status]).toEqual([202, 202]);
    expect((await as('bob', `${other}/retry`)).body.code).toBe('not_failed');
    expect(await as('ann', `${other}/retry`)).toMatchObject({ status: 202, body: retried.body });
    expect(await as('ann', `${other}/terminate`)).toMatchObject({ status: 202, body: terminated.body });
    const status = (await gateway.request('GET', other)).body.status;
    expect(['pending', 'running', 'waiting']).toContain(status);
  });

  it('to review, apply or roll back is answered as before when the definition is another by now', async () => {
    const slug = unique('changing');
    const put = async (description: string) => {
      const more = { description, constraints: { allowSelfModification: true, proposerMayReview: true } };
      const json = echoDefinition(slug, more);
      return { json, hash: (await gateway.request('PUT', `/api/workflows/${slug}`, { json })).body.hash };
    };
    const base = await put('first');
    const proposals = `/api/workflows/${slug}/proposals`;
    const asked = { baseWorkflowHash: base.hash, proposal: { ...base.json, description: 'proposed' } };
    const proposed = await as('ann', proposals, asked);
    const path = `${proposals}/${proposed.body.id}`;
    const reviewed = await as('ann', `${path}/review`, { decision: 'approve' });
    const applied = await as('ann', `${path}/apply`);
    const back = await as('ann', `/api/workflows/${slug}/rollback`, { workflowHash: base.hash });
    expect([proposed, reviewed, applied, back].map(({ status }) => status)).toEqual([201, 200, 200, 200]);
    const last = await put('last');
    for (const [first, address, json] of [
      [proposed, proposals, asked],
      [reviewed, `${path}/review`, { decision: 'approve' }],
      [applied, `${path}/apply`, {}],
      [back, `/api/workflows/${slug}/rollback`, { workflowHash: base.hash }],
    ] as const)
      expect(await as('ann', address, json), address).toMatchObject({ status: first.status, body: first.body });
    expect((await gateway.request('GET', `/api/workflows/${slug}`)).body.hash).toBe(last.hash);
    expect((await gateway.request('GET', proposals)).body.items).toHaveLength(1);
    const { items } = (await gateway.request('GET', `/api/workflows/${slug}/history`)).body;
    expect(items.map(({ source, createdBy }: { [name: string]: string }) => [source, createdBy])).toEqual([
      ['update', 'admin'],
      ['rollback', 'ann'],
      ['proposal_apply', 'ann'],
      ['update', 'admin'],
    ]);
  });
});

it('a key of a lesser role of the same person gets no answer that was stored for an admin', async () => {
  const user = unique('person');
  const keyOf = async (role: string): Promise<string> =>
    (await gateway.request('POST', '/api/keys', { json: { name: `${user} ${role}`, role, user } })).body.key;
  const [admin, viewer, editor] = [await keyOf('admin'), await keyOf('viewer'), await keyOf('editor')];
  const ask = (key: string, path: string, json: Json) =>
    gateway.request('POST', path, {
      json,
      headers: { authorization: `Bearer ${key}`, 'idempotency-key': `${user} asks` },
    });
  const wanted = { name: `made for ${user}`, role: 'viewer' };
  const made = await ask(admin, '/api/keys', wanted);
  expect(made.status).toBe(201);
  expect(await ask(admin, '/api/keys', wanted)).toMatchObject({ status: 201, body: { key: made.body.key } });
  for (const key of [viewer, editor]) {
    const refused = await ask(key, '/api/keys', wanted);
    expect(refused).toMatchObject({ status: 403, body: { code: 'role_required' } });
    expect(JSON.stringify(refused.body)).not.toContain(made.body.key);
  }
  // Both may do this, and each by itself.
  const definition = echoDefinition(unique('stored'));
  const first = await ask(admin, '/api/workflows', definition);
  expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
  const second = await ask(editor, '/api/workflows', definition);
  expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([200, null]);
});
