// A request with an Idempotency-Key whose gateway has died before it answered.

import { describe, expect, it, vi } from 'vitest';
import { type Claim, claimRequest } from '../../../src/client/starts/idempotency-claims.ts';
import { writeAccess } from '../../support/temporal.ts';
import { echoDefinition, sharedGateway, unique } from './gateway-support.ts';

const gateway = sharedGateway();

const keyed = (key: string) => ({ 'idempotency-key': key });

describe('a POST with an Idempotency-Key', () => {
  it('that its gateway did not live to answer is worked on again, and one that takes long is not', async () => {
    const slug = unique('orphan');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    const json = { workflowId: slug, name: 'x', type: 'manual' };
    const { server } = gateway;
    const over = writeAccess(server);
    const content = JSON.stringify(['', '', JSON.stringify({ name: 'x', type: 'manual', workflowId: slug })]);
    const scope = JSON.stringify([null, 'admin', '/api/triggers']);
    const held = { scope, key: unique('held'), content };
    const worked = (await claimRequest(over, 'default', held, 0)) as Claim;
    // One that nobody says anything of from now on, as its gateway was killed.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const claimed = await claimRequest(over, 'default', { scope, key: slug, content }, 0);
    vi.useRealTimers();
    expect(claimed).toHaveProperty('release');
    const send = () => gateway.request('POST', '/api/triggers', { json, headers: keyed(slug) });
    const [early, other] = await Promise.all([
      send(),
      gateway.request('POST', '/api/triggers', { json: { ...json, name: 'y' }, headers: keyed(slug) }),
    ]);
    expect(early).toMatchObject({ status: 409, body: { code: 'request_in_flight' } });
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(other.status).toBe(422);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect((await send()).status).toBe(201);
    // The other one works for longer than that, and is not begun a second time beside the first.
    await expect(claimRequest(over, 'default', held, 0)).rejects.toMatchObject({ code: 'request_in_flight' });
    const answer = { status: 200, headers: {}, body: 'late' };
    await worked.answer(answer);
    expect(await claimRequest(over, 'default', held, 5_000)).toEqual(answer);
  });
});
