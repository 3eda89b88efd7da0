import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { createActivities } from '../../../activities/registry.ts';
import { ActivityError } from '../../../activities/runtime/failure.ts';
import { type ActivityHandler, RESULT_LIMIT_BYTES, wrapActivity } from '../../../activities/runtime/wrap-activity.ts';
import type { Json } from '../../../src/json/json.ts';
import { actionTypes } from '../../../src/steps/kinds/built-in-actions.ts';
import { environment, inputOf, LOOPBACK } from '../server.ts';

const run = (body: ActivityHandler) => environment().run(wrapActivity(body), inputOf({}));
const failing = (body: ActivityHandler): Promise<ApplicationFailure> =>
  run(body).then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  );

/** A list in a list, so many levels. */
function nested(levels: number): Json {
  let value: Json = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

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

  it('fails typed when its data or its meta nests too deeply', async () => {
    expect(await failing(async () => ({ data: nested(201) }))).toMatchObject({ type: 'result_too_deep' });
    expect(await failing(async () => ({ data: 1, meta: { content: nested(200) } }))).toMatchObject({
      type: 'result_too_deep',
      details: [{ details: { limit: 200 } }],
    });
  });

  it('keeps its code if its details are too large: they are omitted, but model usage is not', async () => {
    const fails = (details: Json, message = 'No.') =>
      failing(() => Promise.reject(new ActivityError('busy', message, { details })));
    expect(await fails({ body: nested(5_000) })).toMatchObject({
      type: 'busy',
      details: [{ details: { omitted: 'too deep', limit: 200 } }],
    });
    const usage = {
      key_type: 'openai',
      model: 'm',
      input_tokens: 1,
      output_tokens: 2,
      cached_input_tokens: 0,
      usd_cost: 1,
    };
    expect(await fails({ body: 'x'.repeat(RESULT_LIMIT_BYTES), usage })).toMatchObject({
      type: 'busy',
      details: [{ details: { omitted: 'too large', bytes: expect.any(Number), usage } }],
    });
    expect((await fails(null, 'x'.repeat(3_000_000))).message).toHaveLength(10_001);
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
