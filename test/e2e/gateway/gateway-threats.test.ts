// Faults around the gateway (THREATS.md): Temporal becomes unavailable during starts, and its clock jumps.

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { connect } from '../../../src/client/temporal/connect.ts';
import { startGateway } from '../../../src/gateway/serve.ts';
import type { Json } from '../../../src/json/json.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { type Answer, echoDefinition, requestTo, sharedGateway, unique } from './gateway-support.ts';

const ADMIN = 'an-admin-of-the-environment-0123456789';
const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });

const stored = async (more: { [member: string]: Json } = {}): Promise<string> => {
  const slug = unique('threat');
  await gateway.store(echoDefinition(slug, more));
  return slug;
};
const start = (url: string, workflowId: string, clientRequestId: string): Promise<Answer> =>
  requestTo(url, 'POST', '/api/triggers/manual/run', {
    json: { workflowId, input: { clientRequestId }, clientRequestId },
    headers: { authorization: `Bearer ${ADMIN}` },
  });

describe('Temporal that becomes unavailable while starts are in flight', () => {
  it('makes them 503 with Retry-After, loses none that was acknowledged, and starts each once', async () => {
    const slug = await stored();
    const { config } = gateway.server;
    const proxy = new TcpProxy(config.temporal.address ?? '');
    await proxy.open();
    const temporal = await connect({ ...config, temporal: { ...config.temporal, address: `127.0.0.1:${proxy.port}` } });
    const cut = await startGateway(config, { temporal });
    const ids = Array.from({ length: 40 }, (_, n) => `${slug} ${n}`);
    try {
      const asked = ids.map(async (id, n) => {
        await delay(n * 5);
        return start(cut.url, slug, id);
      });
      await delay(100);
      await proxy.cut();
      const answers = await Promise.all(asked);
      const refused = answers.filter(({ status }) => status === 503);
      expect(refused.length).toBeGreaterThan(0);
      for (const { status, headers } of answers) {
        if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        else expect(status).toBe(201);
      }
      await proxy.open();
      const again: Answer[] = [];
      const deadline = Date.now() + 30_000;
      for (const id of ids) {
        let answer = await start(cut.url, slug, id);
        while (answer.status === 503 && Date.now() < deadline) answer = await start(cut.url, slug, id);
        again.push(answer);
      }
      for (const [n, { status, body }] of again.entries()) {
        expect([200, 201]).toContain(status);
        const before = answers[n];
        if (before?.status === 201) expect(body.executionId).toBe(before.body.executionId);
      }
      expect(new Set(again.map(({ body }) => body.executionId)).size).toBe(ids.length);
      const { body } = await gateway.until(
        `/api/workflows/${slug}/executions?limit=100`,
        (list) =>
          list.body.items.length >= ids.length &&
          list.body.items.every(({ status }: { status: string }) => status === 'completed'),
        30,
      );
      expect(body.items).toHaveLength(ids.length);
    } finally {
      await cut.close();
      await temporal.close();
      await proxy.cut();
    }
  }, 120_000);
});

describe('a clock of the gateway that is moved', () => {
  it('starts no timer early, no run twice, and lets nobody in or out', async () => {
    const slug = await stored({
      steps: {
        wait: { stepType: 'sleep', config: { duration: '2s' }, nextSteps: { success: 'done' } },
        done: { stepType: 'finish', config: { output: '{{ input }}' } },
      },
    });
    const held = await stored({ config: { debounce: { key: 'of', seconds: 2 }, publicStart: true } });
    const { publicApiKey } = (await gateway.request('GET', '/api/public-key')).body;
    const made = await gateway.request('POST', '/api/keys', { json: { name: unique('moved'), role: 'viewer' } });
    const viewer = { headers: { authorization: `Bearer ${made.body.key}` } };
    const listed = () => gateway.request('GET', '/api/workflows?limit=1', viewer);
    const ids = new Map<string, string>();
    const beganAt = performance.now();
    for (const moved of [0, 24 * 60 * 60 * 1000, -24 * 60 * 60 * 1000]) {
      // The time of this process alone: the gateway's, and its worker's outside of workflows.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + moved });
      try {
        const answer = await start(gateway.url, slug, `${slug} at ${moved}`);
        expect(answer.status).toBe(201);
        ids.set(`${slug} at ${moved}`, answer.body.executionId);
        for (const [id, executionId] of ids)
          expect(await start(gateway.url, slug, id)).toMatchObject({ status: 200, body: { executionId } });
        expect((await listed()).status).toBe(200);
        const path = `/api/public/trigger/${publicApiKey}/${held}`;
        expect((await gateway.request('POST', path, { json: { of: `${moved}` } })).status).toBe(202);
      } finally {
        vi.useRealTimers();
      }
    }
    for (const executionId of ids.values())
      expect((await gateway.request('GET', `/api/executions/${executionId}/result?wait=20`)).status).toBe(200);
    expect(performance.now() - beganAt).toBeGreaterThan(2_000);
    const steps = await Promise.all(
      [...ids.values()].map(async (id) => (await gateway.request('GET', `/api/executions/${id}/steps`)).body.items),
    );
    for (const items of steps) {
      const wait = items.find(({ stepSlug }: { stepSlug: string }) => stepSlug === 'wait');
      expect(Date.parse(wait.completedAt) - Date.parse(wait.startedAt)).toBeGreaterThanOrEqual(2_000);
    }
    const runs = await gateway.until(
      `/api/workflows/${held}/executions`,
      ({ body }) => body.items.filter(({ status }: { status: string }) => status === 'completed').length === 3,
      20,
    );
    expect(runs.body.items).toHaveLength(3);
    // Revoked while the clock goes back: it does not stay valid until that has caught up.
    expect((await gateway.request('DELETE', `/api/keys/${made.body.id}`)).status).toBe(204);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 24 * 60 * 60 * 1000 });
    try {
      expect((await listed()).status).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  }, 120_000);
});
