import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, it, vi } from 'vitest';
import type { ResultStore } from '../../../activities/runtime/store-result.ts';
import { type ActivityHandler, wrapActivity } from '../../../activities/runtime/wrap-activity.ts';
import type { LargeResult } from '../../../src/contract/run/activity.ts';
import { type ActivityInput, STORE_WAIT_MEMBER } from '../../../src/contract/run/activity.ts';
import { inputOf } from '../server.ts';

const USAGE = {
  key_type: 'openai',
  model: 'm',
  input_tokens: 1,
  output_tokens: 2,
  cached_input_tokens: 0,
  usd_cost: 1,
};
const LARGE = { data: 'x'.repeat(400_000) };
const STORED = 'a reference';
const IN_HISTORY = 'in history';

const unavailableError = (type: string): ApplicationFailure => ApplicationFailure.create({ type, message: 'Away.' });

/** A store that fails with these errors first. */
function storeOf(errors: Error[], more: Partial<LargeResult> = {}): ResultStore {
  const store = async (): Promise<unknown> => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return STORED;
  };
  return {
    isAway: false,
    of: async () => ({ store, inHistory: () => undefined, ...more }),
    late: () => undefined,
    reported: (value) => value,
  };
}

interface Run {
  readonly results?: ResultStore;
  readonly input?: Partial<ActivityInput>;
  readonly isLocal?: boolean;
}

/** What Temporal gets: the result or the failure, and the heartbeats. */
async function play(handler: ActivityHandler, { results, input, isLocal = false }: Run) {
  const environment = new MockActivityEnvironment({ attempt: 2, isLocal }, { logger: new DefaultLogger('ERROR') });
  const beats: unknown[] = [];
  environment.on('heartbeat', (details) => beats.push(details));
  const activity = wrapActivity(handler, results === undefined ? {} : { results });
  const ended = environment.run(activity, { ...inputOf({}), ...input }).catch((error: unknown) => error);
  return { environment, beats, ended: ended as Promise<unknown> };
}
const large: ActivityHandler = async () => LARGE;

describe('a large result', () => {
  it('is returned as what stands for it', async () => {
    const { ended, beats } = await play(large, { results: storeOf([]) });
    expect([await ended, beats]).toEqual([STORED, []]);
  });

  it('is returned as it is where there is no store, and a small one never goes there', async () => {
    expect(await (await play(large, {})).ended).toEqual(LARGE);
    const results = storeOf([unavailableError('blob_unavailable')]);
    expect(await (await play(async () => ({ data: 1 }), { results })).ended).toEqual({ data: 1 });
  });

  it.each(['blob_unavailable', 'blob_denied'])('waits for the store (%s), and says so', async (type) => {
    const results = storeOf([unavailableError(type)]);
    const { ended, beats } = await play(async () => ({ ...LARGE, meta: { usage: USAGE } }), { results });
    expect(await ended).toBe(STORED);
    expect(beats).toEqual([{ [STORE_WAIT_MEMBER]: expect.stringMatching(/^20.*Z$/), usage: USAGE }]);
  });

  it('goes into history at once where it fits there', async () => {
    const results = storeOf([unavailableError('blob_unavailable')], { inHistory: () => IN_HISTORY });
    const { ended, beats } = await play(large, { results });
    expect([await ended, beats]).toEqual([IN_HISTORY, []]);
  });

  it('fails where waiting does not help, and its usage is paid for', async () => {
    const results = storeOf([unavailableError('blob_damaged')]);
    const { ended } = await play(async () => ({ ...LARGE, meta: { usage: USAGE } }), { results });
    expect(await ended).toMatchObject({
      type: 'blob_damaged',
      message: 'Away.',
      nonRetryable: true,
      details: [{ retryable: false, attempts: 2, details: { usage: USAGE } }],
    });
  });

  it('of a local activity does not wait: one that may be repeated is repeated as a regular one', async () => {
    const local = (input: Partial<ActivityInput>) =>
      play(large, {
        results: storeOf([unavailableError('blob_unavailable')], { inHistory: () => IN_HISTORY }),
        isLocal: true,
        input,
      });
    expect(await (await local({ repeatable: true })).ended).toMatchObject({ type: 'timeout', nonRetryable: false });
    expect(await (await local({})).ended).toMatchObject({ type: 'blob_unavailable', nonRetryable: false });
  });

  it('is given up when the activity is cancelled', async () => {
    const errors = Array.from({ length: 100 }, () => unavailableError('blob_unavailable'));
    const { ended, environment } = await play(large, { results: storeOf(errors) });
    await expect.poll(() => errors.length).toBeLessThan(100);
    environment.cancel();
    expect(await ended).toBeInstanceOf(CancelledFailure);
  });
});

describe('an input that the store did not give', () => {
  it('is waited for before the effect begins', async () => {
    const errors = [unavailableError('blob_unavailable')];
    const read = async (): Promise<unknown> => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return inputOf({ n: 7 });
    };
    const results = { ...storeOf([]), late: () => read };
    const { ended, beats } = await play(async (config) => ({ data: config }), { results });
    expect(await ended).toEqual({ data: { n: 7 } });
    expect(beats).toEqual([{ [STORE_WAIT_MEMBER]: expect.any(String) }]);
  });
});

describe('an effect with a limit', () => {
  const input = { timeoutMs: 10_000 };

  it('that ignores it fails as Temporal would have it, with what it has used', async () => {
    let signal: AbortSignal | undefined;
    const handler: ActivityHandler = (_config, context) => {
      signal = context.signal;
      context.progress(() => ({ usage: USAGE }));
      return new Promise(() => undefined);
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { ended, beats } = await play(handler, { input });
    await expect.poll(() => signal).toBeDefined();
    vi.advanceTimersByTime(input.timeoutMs);
    vi.useRealTimers();
    expect(await ended).toMatchObject({
      type: 'timeout',
      message: expect.stringContaining('(the limit of one attempt)'),
      nonRetryable: false,
      details: [{ retryable: true, attempts: 2, details: { usage: USAGE } }],
    });
    expect(signal?.aborted).toBe(true);
    // The next attempt adds it.
    expect(beats).toEqual([{ usage: USAGE }]);
  });

  it('that ends before its timeout is not disturbed, and one that is cancelled is no timeout', async () => {
    expect(await (await play(async () => ({ data: 1 }), { input })).ended).toEqual({ data: 1 });
    let cancel = (): void => undefined;
    const obedient: ActivityHandler = (_config, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('Ended.')));
        cancel();
      });
    const { ended, environment } = await play(obedient, { input });
    cancel = () => environment.cancel();
    expect(await ended).toBeInstanceOf(CancelledFailure);
  });
});
