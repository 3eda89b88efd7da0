// Many requests at once: each is acknowledged, or refused before anything is sent.

import { expect, it } from 'vitest';
import type { Answer, TestGateway } from './gateway-support.ts';
import { approvalDefinition, echoDefinition, unique } from './gateway-support.ts';

const all = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

/** A few lanes, for what only prepares or checks. */
async function inLanes<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const item of left) await act(item);
    }),
  );
}

/** How often each answer came. */
function counted(answers: readonly Answer[]): { [told: string]: number } {
  const counts: { [told: string]: number } = {};
  for (const { status, body } of answers) {
    const told = status < 400 ? String(status) : `${status} ${body.code}`;
    counts[told] = (counts[told] ?? 0) + 1;
  }
  return counts;
}

/** `count`: requests at once, not more than a gateway takes. */
export function crowdSuite(gateway: () => TestGateway, count: number): void {
  const timeout = 120_000 + count * 300;

  it(`${count} starts`, { timeout }, async () => {
    const slug = unique('crowd');
    await gateway().request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const answers = await all(count, (index) =>
      gateway().request('POST', '/api/triggers/manual/run', { json: { workflowId: slug, input: { index } } }),
    );
    expect(counted(answers)).toEqual({ 201: count });
    const ids = answers.map(({ body }) => body.executionId as string);
    expect(new Set(ids).size).toBe(count);
    await inLanes(ids, async (id) => {
      const result = await gateway().request('GET', `/api/executions/${id}/result?wait=60`);
      expect(result.body.status).toBe('completed');
    });
  });

  it(`${count} deliveries of a webhook`, { timeout }, async () => {
    const [slug, path] = [unique('crowd'), unique('crowd')];
    const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
    await gateway().request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { triggers }) });
    const answers = await all(count, (index) => gateway().request('POST', `/webhooks/${path}`, { json: { index } }));
    expect(counted(answers)).toEqual({ 202: count });
    expect(new Set(answers.map(({ body }) => body.executionId)).size).toBe(count);
  });

  it(`${count} decisions`, { timeout }, async () => {
    const slug = unique('crowd');
    await gateway().request('PUT', `/api/workflows/${slug}`, { json: approvalDefinition(slug) });
    const ids: string[] = [];
    await inLanes([...Array(count).keys()], async (amount) => {
      const started = await gateway().request('POST', '/api/triggers/manual/run', {
        json: { workflowId: slug, input: { amount } },
      });
      ids.push(started.body.executionId);
    });
    await inLanes(ids, (id) =>
      gateway().until(`/api/executions/${id}`, ({ body }) => body.status === 'waiting', timeout / 1_000),
    );
    const answers = await all(count, (index) =>
      gateway().request('POST', `/api/executions/${ids[index]}/approve`, { json: { approve: true } }),
    );
    expect(counted(answers)).toEqual({ 200: count });
    await inLanes(ids, async (id) => {
      const result = await gateway().request('GET', `/api/executions/${id}/result?wait=60`);
      expect(result.body.status).toBe('completed');
    });
  });
}
