import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../src/definition/document/types.ts';
import { sharedServer } from '../../support/temporal.ts';
import { eventTypes, startRun } from './run-support.ts';

const COUNT = 500;

/** 500 concurrent requests of 12 KB: 6 MB, where the server takes 4 MB a message. */
const wide: Definition = {
  name: 'Wide',
  slug: 'wide',
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'each' } },
    each: {
      stepType: 'forEach',
      config: { items: '{{ input.items }}', concurrency: COUNT },
      nextSteps: { item: 'send', done: 'done' },
    },
    send: {
      stepType: 'http',
      config: { method: 'POST', url: 'https://example.com/{{ index }}', body: { text: '{{ input.text }}' } },
      timeout: '5m',
    },
    done: { stepType: 'finish', config: { output: '{{ steps.each.output.data.length }}' } },
  },
};

const { server } = sharedServer({}, { activities: { http: (async () => ({ data: 1 })) as never } });

describe('a wide run', () => {
  it('sends more commands than the server takes in one message, in chunks', { timeout: 120_000 }, async () => {
    const begun = Date.now();
    const handle = await startRun(server, wide, {
      input: { items: Array.from({ length: COUNT }, (_, i) => i), text: 'x'.repeat(12_000) },
    });
    expect(await handle.result()).toBe(COUNT);
    const types = await eventTypes(handle);
    expect(types.filter((type) => type === 'activityTaskScheduled').length).toBeGreaterThanOrEqual(COUNT);
    console.log(`${COUNT} activities in ${Date.now() - begun} ms, ${types.length} events`);
  });
});
