import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { ActivityInput } from '../../../src/contract/run/activity.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import { sharedServer } from '../../support/temporal.ts';
import { abreast, fetchOnce, oneDay, threeSeconds } from '../runs/run-definitions.ts';
import { eventTypes, startRun, waitsAt } from '../runs/run-support.ts';

const calls: ActivityInput[] = [];

/** An http activity that answers by the last part of the URL. */
async function http(input: ActivityInput): Promise<unknown> {
  calls.push(input);
  const url = (input.config as { url: string }).url;
  const attempt = calls.filter((call) => call.execution.id === input.execution.id).length;
  // A first attempt that is too slow for a local activity.
  if (url.endsWith('/slow') && attempt === 1) await new Promise((resolve) => setTimeout(resolve, 4_000));
  if (url.endsWith('/flaky') && attempt < 3) throw ApplicationFailure.retryable('Try again.', 'http_status');
  if (url.endsWith('/gone'))
    throw ApplicationFailure.retryable('No more.', 'gone', { retryable: false, details: { status: 410 } });
  if (url.endsWith('/never')) throw ApplicationFailure.retryable('Down.', 'http_connect', { retryable: true });
  if (url.endsWith('/odd')) throw new TypeError('not ours');
  return { data: { url, attempt }, meta: { status: 200 } };
}

const { server } = sharedServer({}, { activities: { http: http as never } });

describe('the effects of a run', () => {
  it('wakes a sleeping run on time, not early', async () => {
    const begun = Date.now();
    const handle = await startRun(server, threeSeconds);
    const memo = await waitsAt(handle, 'rest');
    expect(memo.waitingFor).toMatchObject([{ kind: 'timer' }]);
    expect(await handle.result()).toBe('rested');
    expect(Date.now() - begun).toBeGreaterThanOrEqual(3_000);
    const { events } = await handle.fetchHistory();
    const timer = events?.find((event) => event.timerStartedEventAttributes);
    expect(Buffer.from(timer?.userMetadata?.summary?.data ?? []).toString()).toBe('"rest"');
  });

  it('skips a sleep on request', async () => {
    const handle = await startRun(server, oneDay);
    await waitsAt(handle, 'rest');
    await handle.signal('skipTimer', { step: 'rest' });
    expect(await handle.result()).toBe('rested');
  });

  it('tries an activity again as its retry says, with one key, and names it by its path', async () => {
    const handle = await startRun(server, fetchOnce, { input: { what: 'flaky' } });
    expect(await handle.result()).toEqual({ url: 'https://example.com/flaky', attempt: 3 });
    const mine = calls.filter((call) => call.execution.id === handle.workflowId);
    expect(mine).toHaveLength(3);
    expect(new Set(mine.map((call) => call.idempotencyKey))).toEqual(new Set([`${handle.workflowId}/get`]));
    expect(mine[0]).toMatchObject({
      path: 'get',
      stepSlug: 'get',
      execution: { workflow: 'fetch', organizationId: 'default' },
    });
    const { events } = await handle.fetchHistory();
    const scheduled = events?.find((event) => event.activityTaskScheduledEventAttributes);
    expect(scheduled?.activityTaskScheduledEventAttributes?.activityId).toBe('get');
    expect(Buffer.from(scheduled?.userMetadata?.summary?.data ?? []).toString()).toBe('"get"');
  });

  it('shows the name of a step next to its path where the step has one', async () => {
    const { get, ...others } = fetchOnce.steps;
    const named = { ...fetchOnce, steps: { ...others, get: { ...get, name: 'Fetch the page' } } } as Definition;
    const handle = await startRun(server, named, { input: { what: 'flaky' } });
    await handle.result();
    const { events } = await handle.fetchHistory();
    const scheduled = events?.find((event) => event.activityTaskScheduledEventAttributes);
    expect(scheduled?.activityTaskScheduledEventAttributes?.activityId).toBe('get');
    expect(Buffer.from(scheduled?.userMetadata?.summary?.data ?? []).toString()).toBe('"Fetch the page (get)"');
  });

  it.each([
    ['gone', 1, { code: 'gone', path: 'get', stepSlug: 'get', retryable: false, details: { status: 410 } }],
    ['never', 4, { code: 'http_connect', path: 'get', retryable: true }],
    ['odd', 4, { code: 'TypeError', path: 'get' }],
  ])('fails typed when the activity does: %s', async (what, attempts, told) => {
    const handle = await startRun(server, fetchOnce, { input: { what } });
    const error = await handle.result().catch((failed: unknown) => failed);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    const cause = (error as WorkflowFailedError).cause as ApplicationFailure;
    expect(cause).toMatchObject({ type: told.code, nonRetryable: true });
    expect(cause.details?.[0]).toMatchObject(told);
    expect(calls.filter((call) => call.execution.id === handle.workflowId)).toHaveLength(attempts);
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes['SignalboxStatus']).toEqual(['failed']);
  });

  it('runs a local step within the task, and repeats it as a regular activity when it fails or is slow', async () => {
    for (const [what, attempts] of [
      ['quick', 1],
      ['flaky', 3],
      ['slow', 2],
    ] as const) {
      const local: Definition = {
        ...fetchOnce,
        slug: `local-${what}`,
        steps: { ...fetchOnce.steps, get: { ...fetchOnce.steps['get'], stepType: 'http', local: true } },
      };
      const handle = await startRun(server, local, { input: { what } });
      expect(await handle.result()).toMatchObject({ url: `https://example.com/${what}`, attempt: attempts });
      const types = await eventTypes(handle);
      expect(types).toContain('markerRecorded');
      expect(types.includes('activityTaskScheduled')).toBe(attempts > 1);
    }
  });

  it('runs branches in parallel', async () => {
    const handle = await startRun(server, abreast);
    await waitsAt(handle, 'all/person/ask');
    await handle.signal('approve', {});
    expect(await handle.result()).toBe('approved');
  });
});
