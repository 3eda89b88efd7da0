// Proposals expire by a timer of the definition's actor (agent-ops): after fourteen days, here after a shorter time.

import { describe, expect, it } from 'vitest';
import { definitionId } from '../../../src/client/temporal/ids.ts';
import { DEFINITION_WORKFLOW, type DefinitionStart } from '../../../src/contract/actors.ts';
import type { Json } from '../../../src/json/json.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const LIFETIME_MS = 6_000;

const gateway = sharedGateway();

const modifiable = { constraints: { allowSelfModification: true } };

/** A definition whose proposals live for seconds. */
async function shortLived(historyLimit: number): Promise<{ slug: string; hash: string }> {
  const slug = unique('expiring');
  const { client, taskQueue } = gateway.server;
  await client.workflow.start<(start: DefinitionStart) => Promise<void>>(DEFINITION_WORKFLOW, {
    workflowId: definitionId('default', slug),
    taskQueue,
    args: [{ organizationId: 'default', slug, historyLimit, proposalMs: LIFETIME_MS }],
  });
  const { body } = await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, modifiable) });
  return { slug, hash: body.hash };
}

const propose = async ({ slug, hash }: { slug: string; hash: string }, notes: string) => {
  const proposal: Json = echoDefinition(slug, { ...modifiable, description: notes });
  const json = { baseWorkflowHash: hash, proposal, notes };
  const { status, body } = await gateway.request('POST', `/api/workflows/${slug}/proposals`, { json });
  expect(status, JSON.stringify(body)).toBe(201);
  return { path: `/api/workflows/${slug}/proposals/${body.id}`, expiresAt: Date.parse(body.expiresAt) };
};
const review = (path: string) => gateway.request('POST', `${path}/review`, { json: { decision: 'approve' } });
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Timers that have fired in the latest execution of the actor, and its id. */
async function timersOf(slug: string): Promise<{ runId: string; fired: number }> {
  const handle = gateway.server.client.workflow.getHandle(definitionId('default', slug));
  const { runId } = await handle.describe();
  const { events } = await handle.fetchHistory();
  return { runId, fired: (events ?? []).filter((event) => event.timerFiredEventAttributes).length };
}

describe('a proposal that nobody applies in time', () => {
  it('is closed by a timer, reviewed or not', async () => {
    const definition = await shortLived(1_000);
    const pending = await propose(definition, 'nobody looks');
    const approved = await propose(definition, 'approved');
    expect((await review(approved.path)).status).toBe(200);
    expect((await timersOf(definition.slug)).fired).toBe(0);
    await wait(approved.expiresAt - Date.now() + 1_500);
    expect((await timersOf(definition.slug)).fired).toBeGreaterThan(0);
    for (const { path } of [pending, approved]) {
      expect((await gateway.request('GET', path)).body.status).toBe('expired');
      expect(await review(path)).toMatchObject({ status: 409, body: { code: 'proposal_closed' } });
      expect(await gateway.request('POST', `${path}/apply`)).toMatchObject({
        status: 409,
        body: { code: 'proposal_closed' },
      });
    }
    const listed = await gateway.request('GET', `/api/workflows/${definition.slug}/proposals?status=expired`);
    expect(listed.body.items).toHaveLength(2);
  });

  it('is closed by a timer also when the actor has continued as new meanwhile', async () => {
    const definition = await shortLived(20);
    const before = await timersOf(definition.slug);
    const { path, expiresAt } = await propose(definition, 'carried');
    for (let n = 0; n < 6; n++)
      await gateway.request('POST', `/api/workflows/${definition.slug}/${n % 2 === 0 ? 'disable' : 'enable'}`);
    const carried = await timersOf(definition.slug);
    expect(carried.runId).not.toBe(before.runId);
    expect(carried.fired).toBe(0);
    await wait(expiresAt - Date.now() + 1_500);
    expect((await timersOf(definition.slug)).fired).toBe(1);
    expect((await gateway.request('GET', path)).body.status).toBe('expired');
    expect(await review(path)).toMatchObject({ status: 409, body: { code: 'proposal_closed' } });
    // Those that are made from now on live as long.
    const next = await propose(definition, 'next');
    expect(next.expiresAt - Date.now()).toBeLessThanOrEqual(LIFETIME_MS);
  });
});

describe('proposals of a definition that is deleted', () => {
  it.each([1_000, 4])(
    'end with it, and do not come back with the next of its name (history limit %i)',
    async (limit) => {
      const definition = await shortLived(limit);
      const { slug } = definition;
      const [pending, approved] = [await propose(definition, 'pending'), await propose(definition, 'approved')];
      expect((await review(approved.path)).status).toBe(200);
      expect((await gateway.request('DELETE', `/api/workflows/${slug}`)).status).toBe(204);
      const again = await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, modifiable) });
      expect(again).toMatchObject({ status: 201, body: { hash: definition.hash } });
      const gone = { status: 404, body: { code: 'proposal_not_found' } };
      for (const { path } of [pending, approved]) {
        expect(await gateway.request('GET', path)).toMatchObject({ status: 404 });
        expect(await review(path)).toMatchObject(gone);
        expect(await gateway.request('POST', `${path}/apply`, { json: {} })).toMatchObject(gone);
      }
      expect((await gateway.request('GET', `/api/workflows/${slug}/proposals`)).body.items).toEqual([]);
      const fresh = await propose(definition, 'of the new one');
      const listed = await gateway.request('GET', `/api/workflows/${slug}/proposals`);
      expect(listed.body.items).toMatchObject([{ notes: 'of the new one' }]);
      await wait(fresh.expiresAt - Date.now() + 1_500);
      expect((await gateway.request('GET', fresh.path)).body.status).toBe('expired');
    },
  );
});
