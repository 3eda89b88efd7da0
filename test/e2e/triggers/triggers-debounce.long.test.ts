// Debounce where clocks differ, and where workers die.

import { beforeAll, describe, expect, it, vi } from 'vitest';
import { debounceOrBegin } from '../../../src/client/starts/debounce.ts';
import { bodyParts, prepareRun } from '../../../src/client/starts/prepare-run.ts';
import { forkWorker, writeAccess } from '../../support/temporal.ts';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();
let publicKey: string;
beforeAll(async () => {
  publicKey = (await gateway.request('GET', '/api/public-key')).body.publicApiKey;
});

/** A workflow that waits two seconds for further payloads. */
async function put(): Promise<string> {
  const slug = unique('public');
  const json = echoDefinition(slug, { config: { publicStart: true, debounce: { seconds: 2 } } });
  expect((await gateway.request('PUT', `/api/workflows/${slug}`, { json })).status).toBe(201);
  return slug;
}

const send = (slug: string, n: number) =>
  gateway.request('POST', `/api/public/trigger/${publicKey}/${slug}`, { json: { n } });
const runsOf = async (slug: string, enough: (runs: { id: string; status: string }[]) => boolean) => {
  const { body } = await gateway.until(`/api/workflows/${slug}/executions`, (answer) => enough(answer.body.items));
  return body.items as { id: string; status: string }[];
};

describe('debounce', () => {
  it("waits by Temporal's clock, whatever that of the gateway says", async () => {
    const { server } = gateway;
    const over = writeAccess(server);
    const slug = await put();
    const prepared = await prepareRun(over, 'default', { definitionRef: { workflow: slug }, parts: bodyParts({}, 0) });
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 60 * 60 * 1000);
    const held = debounceOrBegin(over, 'default', { ...prepared, trigger: { type: 'webhook' } });
    clock.mockRestore();
    expect(await held).toMatchObject({ outcome: 'debounced' });
    await runsOf(slug, (items) => items.length === 1);
  });

  it('fires once after a crash of the worker', async () => {
    const slug = await put();
    await gateway.stopWorker();
    const first = await forkWorker(gateway.server);
    expect((await send(slug, 1)).status).toBe(202);
    expect((await send(slug, 2)).status).toBe(202);
    first.child.kill('SIGKILL');
    await new Promise((resolve) => first.child.once('exit', resolve));
    const second = await forkWorker(gateway.server);
    const [run] = await runsOf(slug, (items) => items[0]?.status === 'completed');
    const result = await gateway.request('GET', `/api/executions/${run!.id}/result?wait=20`);
    expect(result.body.output).toEqual({ n: 2 });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await runsOf(slug, () => true)).toHaveLength(1);
    await second.end();
  }, 120_000);
});
