// Versions of a definition (agent-ops): history, diff, rollback, proposals, single fields. And what needs no worker.

import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { cli } from '../../cli/terminal.ts';
import { approvalDefinition, echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

// Actors continue as new every few writes.
const gateway = sharedGateway({ SIGNALBOX_HISTORY_LIMIT: '30' });

const put = async (slug: string, definition: Json, headers: Record<string, string> = {}) =>
  gateway.request('PUT', `/api/workflows/${slug}`, { json: definition, headers });
const post = (path: string, json: Json = {}) => gateway.request('POST', path, { json });
const get = (path: string) => gateway.request('GET', path);

/** A definition that says `what`. */
const saying = (slug: string, what: Json, more: { [key: string]: Json } = {}): { [key: string]: Json } =>
  echoDefinition(slug, { steps: { done: { stepType: 'finish', config: { output: what } } }, ...more });

describe('the history of a definition', () => {
  it('has every version with its source and author, newest first, in pages, and outlives the definition', async () => {
    const slug = unique('versioned');
    const hashes: string[] = [];
    for (let n = 0; n < 12; n++) hashes.push((await put(slug, saying(slug, n))).body.hash);
    // The same again changes nothing.
    await put(slug, saying(slug, 11));
    const first = await get(`/api/workflows/${slug}/history?limit=5`);
    expect(first.body.items.map(({ hash }: { hash: string }) => hash)).toEqual(hashes.slice(7).reverse());
    expect(first.body.items[0]).toMatchObject({ version: '1.0.11', source: 'update', createdAt: expect.any(String) });
    const rest = await get(`/api/workflows/${slug}/history?cursor=${first.body.nextCursor}`);
    expect(rest.body.items).toHaveLength(7);
    expect((await get(`/api/workflows/${slug}/history?cursor=${first.body.nextCursor}x`)).status).toBe(400);
    expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(204);
    expect((await get(`/api/workflows/${slug}/history`)).body.items).toHaveLength(12);
    const version = await get(`/api/workflows/${slug}/history/${hashes[3]}`);
    expect(version.body.definition.steps.done.config.output).toBe(3);
    expect((await get(`/api/workflows/${unique('never')}/history`)).status).toBe(404);
  });

  it('tells what differs between two versions, as text and as a list', async () => {
    const slug = unique('differing');
    const from = (await put(slug, saying(slug, 'a'))).body.hash;
    const to = (await put(slug, saying(slug, 'b', { tags: ['x'] }))).body.hash;
    const { body } = await get(`/api/workflows/${slug}/diff?from=${from}&to=${to}`);
    expect(body.changes).toEqual([
      { op: 'changed', pointer: '/steps/done/config/output', before: 'a', after: 'b' },
      { op: 'added', pointer: '/tags', after: ['x'] },
    ]);
    expect(body.diffText).toContain('-        "output": "a"');
    expect(body.diffText).toContain('+        "output": "b"');
    const unknown = `sha256:${'0'.repeat(64)}`;
    expect((await get(`/api/workflows/${slug}/diff?from=${unknown}&to=${to}`)).status).toBe(404);
  });

  it('can be gone back in, under a new number', async () => {
    const slug = unique('rolled-back');
    const first = (await put(slug, saying(slug, 'a'))).body;
    await put(`${slug}?notes=b%20is%20better`, saying(slug, 'b', { version: '2.0.0' }));
    const back = await post(`/api/workflows/${slug}/rollback`, { workflowHash: first.hash, notes: 'b was wrong' });
    expect(back.body).toMatchObject({ hash: first.hash, version: '2.0.1', alreadyAtVersion: false });
    const again = await post(`/api/workflows/${slug}/rollback`, { workflowHash: first.hash });
    expect(again.body).toMatchObject({ hash: first.hash, version: '2.0.1', alreadyAtVersion: true });
    const history = await get(`/api/workflows/${slug}/history`);
    expect(history.body.items[0]).toMatchObject({ source: 'rollback', notes: 'b was wrong', version: '2.0.1' });
    expect(history.body.items).toHaveLength(3);
    expect(history.body.items[1]).toMatchObject({ source: 'update', notes: 'b is better', version: '2.0.0' });
    const nowhere = await post(`/api/workflows/${slug}/rollback`, { workflowHash: 'f'.repeat(64) });
    expect(nowhere.body).toMatchObject({ status: 404, code: 'version_not_found' });
  });
});

describe('single fields of a definition', () => {
  it('change without the rest, and only what is expected', async () => {
    const slug = unique('patched');
    const { hash } = (await put(slug, approvalDefinition(slug))).body;
    const disabled = await post(`/api/workflows/${slug}/disable`);
    expect(disabled.body).toMatchObject({ enabled: false, hash, version: '1.0.0' });
    const start = { workflowId: slug, input: { amount: 1 } };
    expect((await post('/api/triggers/manual/run', start)).body.code).toBe('workflow_disabled');
    const tagged = await gateway.request('PATCH', `/api/workflows/${slug}`, { json: { tags: ['new'], enabled: true } });
    expect(tagged.body).toMatchObject({ enabled: true, tags: ['new'], version: '1.0.1' });
    const stale = await gateway.request('PATCH', `/api/workflows/${slug}`, {
      json: { tags: [] },
      headers: { 'if-match': `"${hash}"` },
    });
    expect(stale.status).toBe(412);
    expect((await post('/api/triggers/manual/run', start)).status).toBe(201);
  });

  it('are changed by concurrent writers, and no change is lost', async () => {
    const slug = unique('patched-at-once');
    await put(slug, saying(slug, 1));
    const names = ['name', 'description'] as const;
    const answers = await Promise.all(
      names.map((name) => gateway.request('PATCH', `/api/workflows/${slug}`, { json: { [name]: `new ${name}` } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await get(`/api/workflows/${slug}`)).body).toMatchObject({
      name: 'new name',
      description: 'new description',
    });
  });
});

describe('a run', () => {
  it('keeps the version that it began with', async () => {
    const slug = unique('kept');
    const { hash } = (await put(slug, approvalDefinition(slug))).body;
    const { executionId } = (await post('/api/triggers/manual/run', { workflowId: slug, input: { amount: 7 } })).body;
    await gateway.until(`/api/executions/${executionId}`, ({ body }) => body.status === 'waiting');
    await put(slug, saying(slug, 'something else'));
    await post(`/api/executions/${executionId}/approve`, { approve: true });
    const result = await get(`/api/executions/${executionId}/result?wait=10`);
    expect(result.body.output).toEqual({ paid: 7 });
    expect((await get(`/api/executions/${executionId}`)).body.workflowHash).toBe(hash);
  });
});

describe('a proposal', () => {
  const modifiable = { constraints: { allowSelfModification: true } };

  async function proposed(what: Json = 'b') {
    const slug = unique('proposed');
    const base = (await put(slug, saying(slug, 'a', modifiable))).body;
    const path = `/api/workflows/${slug}/proposals`;
    const answer = await post(path, {
      baseWorkflowHash: base.hash,
      proposal: saying(slug, what, modifiable),
      notes: 'better',
    });
    return { slug, base, path, answer, id: answer.body.id as string };
  }

  it('is reviewed, applied as a new patch, and stands in the history', async () => {
    const { slug, base, path, answer, id } = await proposed();
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ status: 'pending', baseWorkflowHash: base.hash, notes: 'better' });
    const days = (Date.parse(answer.body.expiresAt) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(13.9);
    expect(days).toBeLessThanOrEqual(14);
    expect(answer.body.diffText).toContain('+        "output": "b"');
    expect((await post(`${path}/${id}/apply`)).body).toMatchObject({ status: 409, code: 'proposal_not_approved' });
    const reviewed = await post(`${path}/${id}/review`, { decision: 'approve', notes: 'yes' });
    expect(reviewed.body).toMatchObject({ status: 'approved', review: { decision: 'approve', notes: 'yes' } });
    expect((await post(`${path}/${id}/review`, { decision: 'reject' })).body.code).toBe('proposal_closed');
    const applied = await post(`${path}/${id}/apply`);
    expect(applied.body).toMatchObject({
      proposal: { status: 'applied' },
      workflow: { version: '1.0.1', hash: answer.body.proposalHash },
    });
    expect((await post(`${path}/${id}/apply`)).body.code).toBe('proposal_closed');
    const history = await get(`/api/workflows/${slug}/history`);
    expect(history.body.items).toMatchObject([
      { source: 'proposal_apply', sourceProposalId: id, notes: 'better' },
      { source: 'update', hash: base.hash },
    ]);
    expect((await get(`${path}?status=applied`)).body.items).toMatchObject([{ id, status: 'applied' }]);
    expect((await get(`${path}?status=pending`)).body.items).toEqual([]);
  });

  it('is refused where the workflow does not allow it, is another by now, or would be the same', async () => {
    const slug = unique('fixed');
    const fixed = (await put(slug, saying(slug, 'a'))).body;
    const one = { baseWorkflowHash: fixed.hash, proposal: saying(slug, 'b') };
    expect((await post(`/api/workflows/${slug}/proposals`, one)).body).toMatchObject({
      status: 403,
      code: 'self_modification_not_allowed',
    });
    // What it would become has another slug; that there is nothing to change is said first.
    expect((await post(`/api/workflows/${unique('nowhere')}/proposals`, one)).body).toMatchObject({
      status: 404,
      code: 'not_found',
    });
    const { path, base, slug: open } = await proposed();
    const same = { baseWorkflowHash: base.hash, proposal: saying(open, 'a', modifiable) };
    expect((await post(path, same)).body.code).toBe('proposal_unchanged');
    const stale = { baseWorkflowHash: fixed.hash, proposal: saying(open, 'c', modifiable) };
    expect((await post(path, stale)).body).toMatchObject({ status: 409, code: 'proposal_stale' });
    const broken = { baseWorkflowHash: base.hash, proposal: { name: 'x', slug: open, steps: {} } };
    expect((await post(path, broken)).status).toBe(422);
  });

  it('that became stale fails when it is applied, and says so', async () => {
    const { slug, path, id } = await proposed();
    await post(`${path}/${id}/review`, { decision: 'approve' });
    await put(slug, saying(slug, 'changed meanwhile', modifiable));
    expect((await post(`${path}/${id}/apply`)).body).toMatchObject({ status: 409, code: 'proposal_stale' });
    expect((await get(`${path}/${id}`)).body).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('anew'),
    });
    expect((await get(`/api/workflows/${slug}`)).body.definition.steps.done.config.output).toBe('changed meanwhile');
  });

  it('that became stale fails also where the newer version takes no proposals', async () => {
    const { slug, path, id } = await proposed();
    await post(`${path}/${id}/review`, { decision: 'approve' });
    await put(slug, saying(slug, 'closed meanwhile'));
    expect((await post(`${path}/${id}/apply`)).body).toMatchObject({ status: 409, code: 'proposal_stale' });
    expect((await get(`${path}/${id}`)).body.status).toBe('failed');
  });

  it('that was rejected cannot be applied', async () => {
    const { path, id } = await proposed();
    await post(`${path}/${id}/review`, { decision: 'reject' });
    expect((await post(`${path}/${id}/apply`)).body.code).toBe('proposal_closed');
  });
});

describe('signalbox propose', () => {
  it('proposes what a file says, and shows what it would change', async () => {
    const slug = unique('proposed-by-file');
    await put(slug, saying(slug, 'a', { constraints: { allowSelfModification: true } }));
    const env = { SIGNALBOX_PORT: new URL(gateway.url).port };
    const changed = JSON.stringify(saying(slug, 'b', { constraints: { allowSelfModification: true } }));
    const { exit, out, err } = await cli(['propose', '-', '--notes', 'from a file'], { env, input: changed });
    expect(exit, err).toBe(0);
    expect(out).toContain('+        "output": "b"');
    const { items } = (await get(`/api/workflows/${slug}/proposals`)).body;
    expect(items).toMatchObject([{ status: 'pending', notes: 'from a file' }]);
    expect(out).toContain(`Proposal ${items[0].id} of ${slug} is pending`);
  });
});

describe('without a worker', () => {
  it('definitions, their versions, history, differences and proposals can be read', async () => {
    const slug = unique('read');
    const from = (await put(slug, saying(slug, 'a'))).body.hash;
    const to = (await put(slug, saying(slug, 'b'))).body.hash;
    await gateway.stopWorker();
    const paths = ['', '/history', `/history/${from}`, `/diff?from=${from}&to=${to}`, '/proposals'];
    for (const path of paths) expect((await get(`/api/workflows/${slug}${path}`)).status).toBe(200);
  });
});
