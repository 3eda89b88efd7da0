// Many requests in parallel: each is acknowledged, or refused before anything is sent.

import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, approvalDefinition, echoDefinition, sharedGateway, unique } from './gateway-support.ts';

/** As many as a gateway takes. */
const COUNT = 1_000;
const TIMEOUT_MS = 420_000;

const gateway = sharedGateway();

const all = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

/** With limited concurrency, for what only prepares or checks. */
async function eachConcurrently<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const item of left) await act(item);
    }),
  );
}

/** Stores the definition. Answers its slug. */
async function stored(make: (slug: string) => Json): Promise<string> {
  const slug = unique('crowd');
  const { status, body } = await gateway.request('PUT', `/api/workflows/${slug}`, { json: make(slug) });
  expect(status, JSON.stringify(body)).toBe(201);
  return slug;
}

/** None is lost. The next test begins when nothing is left to do. */
const allComplete = (ids: readonly string[]): Promise<void> =>
  eachConcurrently(ids, async (id) => {
    const result = await gateway.request('GET', `/api/executions/${id}/result?wait=60`);
    expect(result.body.status).toBe('completed');
  });

/** How often each answer came. */
function counted(answers: readonly Answer[]): { [outcome: string]: number } {
  const counts: { [outcome: string]: number } = {};
  for (const { status, body } of answers) {
    const outcome = status < 400 ? String(status) : `${status} ${body.code}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

/** Starts runs of the definition in parallel. Answers their ids. */
async function allStarted(slug: string, onAnswer = () => {}): Promise<string[]> {
  const answers = await all(COUNT, async (index) => {
    const json = { workflowId: slug, input: { index } };
    const answer = await gateway.request('POST', '/api/triggers/manual/run', { json });
    onAnswer();
    return answer;
  });
  expect(counted(answers)).toEqual({ 201: COUNT });
  const ids = answers.map(({ body }) => body.executionId as string);
  expect(new Set(ids).size).toBe(COUNT);
  return ids;
}

describe('in parallel are taken', () => {
  it('1,000 starts', { timeout: TIMEOUT_MS }, async () => {
    const slug = await stored((name) => echoDefinition(name));
    await allComplete(await allStarted(slug));
  });

  it('changes and decisions beside 1,000 starts', { timeout: TIMEOUT_MS }, async () => {
    const slug = await stored((name) => echoDefinition(name));
    const asking = await stored((name) => approvalDefinition(name));
    const json = { workflowId: asking, input: { amount: 1 } };
    const { body } = await gateway.request('POST', '/api/triggers/manual/run', { json });
    await gateway.until(`/api/executions/${body.executionId}`, (run) => run.body.status === 'waiting');
    let begun = 0;
    const starts = allStarted(slug, () => (begun += 1));
    await expect.poll(() => begun).toBeGreaterThan(0);
    const decided = await gateway.request('POST', `/api/executions/${body.executionId}/approve`, {
      json: { approve: true },
    });
    expect(counted([decided])).toEqual({ 200: 1 });
    await stored((name) => echoDefinition(name));
    // Neither waited for the starts.
    expect(begun).toBeLessThan(COUNT);
    const ids = await starts;
    // The worker has runs left to begin, and Temporal hands it the tasks of definitions before theirs.
    for (let n = 0; n < 8; n++) await stored((name) => echoDefinition(name));
    await allComplete([...ids, body.executionId]);
  });

  it('1,000 deliveries of a webhook', { timeout: TIMEOUT_MS }, async () => {
    const path = unique('crowd');
    const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
    await stored((name) => echoDefinition(name, { triggers }));
    const answers = await all(COUNT, (index) => gateway.request('POST', `/webhooks/${path}`, { json: { index } }));
    expect(counted(answers)).toEqual({ 202: COUNT });
    const ids = answers.map(({ body }) => body.executionId as string);
    expect(new Set(ids).size).toBe(COUNT);
    await allComplete(ids);
  });

  it('1,000 decisions', { timeout: TIMEOUT_MS }, async () => {
    const slug = await stored((name) => approvalDefinition(name));
    const ids: string[] = [];
    await eachConcurrently([...Array(COUNT).keys()], async (amount) => {
      const id = await gateway.start(slug, { amount });
      ids.push(id);
    });
    await eachConcurrently(ids, (id) =>
      gateway.until(`/api/executions/${id}`, ({ body }) => body.status === 'waiting', TIMEOUT_MS / 1_000),
    );
    const answers = await all(COUNT, (index) =>
      gateway.request('POST', `/api/executions/${ids[index]}/approve`, { json: { approve: true } }),
    );
    expect(counted(answers)).toEqual({ 200: COUNT });
    await allComplete(ids);
  });
});
