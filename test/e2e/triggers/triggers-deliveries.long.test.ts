// The last firings of a trigger; and what comes for the waits of a dry run over HTTP.

import { describe, expect, it } from 'vitest';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_HISTORY_LIMIT: '30' });

interface Shown {
  readonly outcome: string;
  readonly count: number;
  readonly executionId?: string;
  readonly code?: string;
}

describe('the last firings of a trigger', () => {
  it('are listed with their outcomes, the newest first, at most twenty, and anew with a new trigger', async () => {
    const slug = unique('delivered');
    const path = unique('path');
    const triggers = [{ name: 'in', type: 'webhook', config: { path, scheme: 'none' } }];
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { triggers }) });
    const list = `/api/triggers/${slug}.in/deliveries`;
    expect((await gateway.request('GET', list)).body).toEqual({ items: [] });

    const send = (n: number) => gateway.request('POST', `/webhooks/${path}`, { json: { n } });
    const first = await send(1);
    await gateway.until(list, ({ body }) => body.items.length === 1);
    await send(1);
    const two = await gateway.until(list, ({ body }) => body.items.length === 2);
    const shown = two.body.items as Shown[];
    expect(shown.map(({ outcome, count }) => [outcome, count])).toEqual([
      ['repeated', 1],
      ['started', 1],
    ]);
    expect(shown[1]?.executionId).toBe(first.body.executionId);

    // Enough that the actor continues as new between them.
    for (let n = 2; n < 26; n++) {
      await send(n);
      await gateway.until(`/api/triggers/${slug}.in`, ({ body }) => body.counts.started === n);
    }
    const many = (await gateway.request('GET', list)).body.items as Shown[];
    expect(many).toHaveLength(20);
    expect(new Set(many.map(({ executionId }) => executionId)).size).toBe(20);

    await gateway.request('POST', `/api/workflows/${slug}/disable`, { json: {} });
    await send(99);
    const refused = await gateway.until(list, ({ body }) => body.items[0].outcome === 'refused');
    expect(refused.body.items[0]).toMatchObject({ code: 'workflow_disabled', message: expect.any(String) });

    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    expect((await gateway.request('GET', list)).status).toBe(404);
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug, { triggers }) });
    expect((await gateway.request('GET', list)).body).toEqual({ items: [] });
  });
});

describe('a dry run over HTTP', () => {
  const definition = {
    name: 'Ask',
    slug: 'ask',
    steps: {
      ask: { stepType: 'approval', config: { message: 'Go?' }, nextSteps: { approved: 'done' } },
      done: { stepType: 'finish', config: { output: '{{ steps.ask.output.data.decidedBy }}' } },
    },
  };
  const walk = (more: object) => gateway.request('POST', '/api/executions', { json: { definition, ...more } });

  it('continues where its answers say how, and reports those that did not fit', async () => {
    expect((await walk({ dryRun: true })).body).toMatchObject({ status: 'waiting', waits: [{ path: 'ask' }] });
    const answers = { ask: { decision: 'approved', by: 'ann' } };
    expect((await walk({ dryRun: true, answers })).body).toMatchObject({ status: 'completed', output: 'ann' });
    const wrong = await walk({ dryRun: true, answers: { ask: { message: 1 }, other: { timeout: true } } });
    expect(wrong.body).toMatchObject({
      status: 'waiting',
      problems: [
        { pointer: '/answers/ask', code: 'refused_answer' },
        { pointer: '/answers/other', code: 'unused_answer' },
      ],
    });
  });

  it('is the only run that takes answers, and only such answers', async () => {
    const answers = { ask: { decision: 'approved' } };
    expect(await walk({ answers })).toMatchObject({ status: 400, body: { problems: [{ pointer: '/answers' }] } });
    const odd = await walk({ dryRun: true, answers: { ask: { decision: 'perhaps' } } });
    expect(odd).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });
});
