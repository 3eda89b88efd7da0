// Reading what a run of a large graph did takes long; others are served meanwhile. Pauses are judged against the
// whole reading, so that a slow machine changes nothing.

import { expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { sharedGateway, unique } from './gateway-support.ts';

const STEPS = 3_000;

const gateway = sharedGateway();

/** Each step reads five earlier ones. */
function graph(): Json {
  const reads = (n: number): Json =>
    n === 0 ? {} : Object.fromEntries([1, 2, 3, 4, 5].map((k) => [`k${k}`, `{{ steps.s${(n * k) % n}.output.type }}`]));
  const steps = Array.from({ length: STEPS }, (_, n) => [
    `s${n}`,
    { stepType: 'mapping', config: { output: reads(n) } },
  ]);
  return { name: 'Graph', slug: unique('graph'), flow: 'dag', steps: Object.fromEntries(steps) };
}

/** How long the reading took, and the longest time in between in which the event loop did not come round. */
async function paused(path: string): Promise<{ whole: number; longest: number }> {
  const began = performance.now();
  let longest = 0;
  let last = began;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const looking = setInterval(look, 1);
  try {
    expect(await gateway.request('GET', path)).toMatchObject({ status: 200 });
  } finally {
    clearInterval(looking);
  }
  look();
  return { whole: performance.now() - began, longest };
}

it('serves others while it reads the state and the steps of a run of thousands of steps', async () => {
  const { status, body } = await gateway.request('POST', '/api/executions', { json: { definition: graph() } });
  expect(status, JSON.stringify(body).slice(0, 500)).toBe(201);
  const path = `/api/executions/${body.executionId}`;
  await gateway.until(path, (answer) => answer.body.status === 'completed', 60);
  for (const what of ['state', 'steps']) {
    const { whole, longest } = await paused(`${path}/${what}`);
    expect(longest, `${what}: ${longest} of ${whole} ms`).toBeLessThan(whole * 0.4);
  }
});
