/** A gateway and worker whose store of large data can become unavailable: a file replaces its folder. */
import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { type Answer, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

export interface UnavailableStore {
  readonly gateway: TestGateway;
  makeUnavailable(): void;
  restore(): void;
  start(steps: Json, input?: Json): Promise<string>;
  resultOf(id: string): Promise<Answer['body']>;
  /** Waits until the attempt waits for the store. */
  waitsForStore(id: string, attempt?: number): Promise<Answer>;
  /** The history as JSON. */
  historyOf(id: string): Promise<string>;
  close(): Promise<void>;
}

export async function openUnavailableStore(settings: Record<string, string> = {}): Promise<UnavailableStore> {
  const folder = join(tmpdir(), `signalbox-away-${randomBytes(6).toString('hex')}`);
  const aside = `${folder}-aside`;
  const gateway = await testGateway({ SIGNALBOX_HTTP_ALLOW: '127.0.0.0/8', SIGNALBOX_BLOBS: folder, ...settings });
  let isUnavailable = false;
  const restore = (): void => {
    if (!isUnavailable) return;
    isUnavailable = false;
    rmSync(folder);
    if (existsSync(aside)) renameSync(aside, folder);
  };
  return {
    gateway,
    makeUnavailable: () => {
      isUnavailable = true;
      if (existsSync(folder)) renameSync(folder, aside);
      writeFileSync(folder, 'no folder');
    },
    restore,
    async start(steps, input) {
      const definition = { name: 'Large', slug: unique('away'), steps };
      const json = { definition, ...(input === undefined ? {} : { input }) };
      const { status, body } = await gateway.request('POST', '/api/executions', { json });
      expect(body).not.toHaveProperty('problems');
      expect(status).toBe(201);
      return body.executionId;
    },
    resultOf: async (id) => (await gateway.request('GET', `/api/executions/${id}/result?wait=60`)).body,
    waitsForStore: (id, attempt = 1) =>
      gateway.until(`/api/executions/${id}`, ({ body }) =>
        body.waitingFor.some(
          (wait: { kind: string; attempt: number }) => wait.kind === 'store' && wait.attempt === attempt,
        ),
      ),
    historyOf: async (id) => JSON.stringify(await gateway.server.client.workflow.getHandle(id).fetchHistory()),
    close: async () => {
      await gateway.close();
      restore();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
