import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { type Effect, effect, RESULT_LIMIT_BYTES } from '../../activities/effect.ts';
import { createActivities } from '../../activities/table.ts';
import { actionTypes } from '../../src/steps/actions.ts';
import { environment, inputOf, LOOPBACK } from './server.ts';

const run = (body: Effect) => environment().run(effect(body), inputOf({}));
const failing = (body: Effect): Promise<ApplicationFailure> =>
  run(body).then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  );

describe('an effect', () => {
  it('answers data and meta', async () => {
    expect(await run(async () => ({ data: 1, meta: { a: 2 } }))).toEqual({ data: 1, meta: { a: 2 } });
  });

  it('fails typed when its result does not fit', async () => {
    const failed = await failing(async () => ({ data: 'x'.repeat(RESULT_LIMIT_BYTES) }));
    expect(failed).toBeInstanceOf(ApplicationFailure);
    expect(failed).toMatchObject({
      type: 'result_too_large',
      nonRetryable: true,
      details: [
        { retryable: false, attempts: 2, details: { bytes: RESULT_LIMIT_BYTES + 11, limit: RESULT_LIMIT_BYTES } },
      ],
    });
  });

  it('fails typed, and may be tried again, when it throws something else', async () => {
    const failed = await failing(() => Promise.reject(new TypeError('boom')));
    expect(failed).toMatchObject({ type: 'effect_failed', message: 'boom', nonRetryable: false });
    expect(failed.stack).not.toContain('/');
  });
});

describe('the table of activities', () => {
  const activities = createActivities(LOOPBACK);

  it('has what every registered action runs', () => {
    for (const { activity } of actionTypes) expect(Object.hasOwn(activities, activity)).toBe(true);
  });

  it('has a no-op to give way with', async () => {
    expect(await activities['noop']!(inputOf({}))).toEqual({ data: null });
  });
});
