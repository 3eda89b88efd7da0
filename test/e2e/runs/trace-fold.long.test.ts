import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { readTrace, type TraceQuery } from '../../../src/client/runs/trace.ts';
import type { ActivityInput } from '../../../src/contract/run/activity.ts';
import type { Definition } from '../../../src/definition/document/types.ts';
import { sharedServer, startWorker, testServer } from '../../support/temporal.ts';
import { readConsistently } from './consistent-trace.ts';
import { abreast, approve, fetchMany, fetchOnce, rounds, twice } from './run-definitions.ts';
import { persistently, startRun, until, waitsAt } from './run-support.ts';

/** Answers by the last part of the URL: immediately, late, or only at the third attempt. */
const attempts = new Map<string, number>();
let hold = Promise.resolve();
async function http(input: ActivityInput): Promise<unknown> {
  const { url } = input.config as { url: string };
  const attempt = (attempts.get(input.idempotencyKey) ?? 0) + 1;
  attempts.set(input.idempotencyKey, attempt);
  if (url.endsWith('/flaky') && attempt < 3) throw ApplicationFailure.retryable('Try again.', 'http_status');
  if (url.endsWith('/never')) throw ApplicationFailure.retryable('Down.', 'http_connect', { retryable: true });
  if (url.endsWith('/late')) await hold;
  return { data: { url }, meta: { status: 200 } };
}

/** The one workflow that runs start here: it rests, and ends. */
const child: Definition = {
  name: 'Child',
  slug: 'child',
  steps: {
    rest: { stepType: 'sleep', config: { duration: 150 }, nextSteps: { success: 'end' } },
    end: { stepType: 'finish', config: { output: '{{ input }}' } },
  },
};
const resolveWorkflow = async (): Promise<unknown> => ({ data: { definition: child, hash: 'sha256:child' } });

const { server } = sharedServer(
  { SIGNALBOX_HISTORY_LIMIT: '60' },
  { activities: { http: http as never, resolveWorkflow } },
);

async function expectSame(handle: WorkflowHandle): Promise<void> {
  const { live, folded } = await readConsistently(server, handle);
  expect(folded).toEqual(live);
}

const trace = (handle: WorkflowHandle, query?: TraceQuery) => readTrace(server, handle.workflowId, query);

describe('the trace of a run', () => {
  it('is read without a worker, while the run waits and after it ended', async () => {
    const other = await testServer();
    const alone = await startWorker(other, { activities: { http: http as never } });
    const handle = await startRun(other, approve, { input: { amount: 5, customer: 'Ann' } });
    await waitsAt(handle, 'review');
    const ended = await startRun(other, fetchOnce, { input: { what: 'x' } });
    await ended.result();
    await alone.stop();

    const waiting = await readTrace(other, handle.workflowId);
    expect(waiting).toMatchObject({ uncertain: false, total: 3 });
    expect(waiting.items.map((step) => [step.path, step.status])).toEqual([
      ['received', 'completed'],
      ['note', 'completed'],
      ['review', 'waiting'],
    ]);
    expect(waiting.items[2]).toMatchObject({ stepType: 'approval', input: { message: 'Refund 5?' } });

    const closed = await readTrace(other, ended.workflowId);
    expect(closed.items.map((step) => [step.path, step.status, step.attempts])).toEqual([
      ['received', 'completed', 1],
      ['get', 'completed', 1],
      ['done', 'completed', 1],
    ]);
    const get = closed.items[1]!;
    expect(get.output).toEqual({ type: 'http', data: { url: 'https://example.com/x' }, meta: { status: 200 } });
    expect(Date.parse(get.completedAt!)).toBeGreaterThanOrEqual(Date.parse(get.startedAt));
    await other.close();
  });

  it('counts attempts: of steps that ended, and of one that is still tried', async () => {
    const flaky = await startRun(server, fetchOnce, { input: { what: 'flaky' } });
    await flaky.result();
    expect((await trace(flaky)).items[1]).toMatchObject({ path: 'get', status: 'completed', attempts: 3 });

    const never = await startRun(server, fetchOnce, { input: { what: 'never' } });
    await never.result().catch(() => undefined);
    const failed = (await trace(never)).items[1];
    expect(failed).toMatchObject({ status: 'failed', attempts: 4, error: { code: 'http_connect', attempts: 4 } });

    let release: () => void = () => undefined;
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const late = await startRun(server, fetchOnce, { input: { what: 'late' } });
    await until(
      () => trace(late),
      (page) => page.items[1]?.status === 'running',
    );
    await expectSame(late);
    release();
    await late.result();
    await expectSame(late);
  });

  it('follows a run across continue-as-new, page by page, and is sure of it', async () => {
    const count = 8;
    const handle = await startRun(server, rounds, { input: { rounds: Array.from({ length: count }, (_, n) => n) } });
    for (let n = 0; n < count; n++) {
      await waitsAt(handle, `each~${n}/ask`);
      await handle.signal(n % 2 === 0 ? 'approve' : 'reject', {});
    }
    await until(
      () => trace(handle),
      (page) => page.items.at(-1)?.status === 'completed',
    );
    await expectSame(handle);
    const walked = await trace(handle);
    expect(walked).toMatchObject({ uncertain: false, guesses: [], total: 2 * count + 3 });
    expect(walked.items.map((step) => step.status)).toEqual(walked.items.map(() => 'completed'));

    const many = await startRun(server, fetchMany, { input: { rounds: Array.from({ length: 30 }, (_, n) => n) } });
    await many.result();
    const whole = await trace(many);
    expect(whole).toMatchObject({ uncertain: false, guesses: [], total: 33 });
    expect(whole.items.every((step) => step.status === 'completed')).toBe(true);
    expect(whole.items.slice(2, -1).map((step) => step.path)).toEqual(
      Array.from({ length: 30 }, (_, n) => `each~${n}/get`),
    );
    const paged = [];
    for (let cursor: string | undefined = '0'; cursor !== undefined; ) {
      const page: Awaited<ReturnType<typeof trace>> = await trace(many, { limit: 10, cursor });
      paged.push(...page.items);
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(whole.items);

    // With a filter, only those that are meant, page by page too.
    expect((await trace(many, { step: 'each~3/get' })).items).toEqual([whole.items[5]]);
    expect((await trace(many, { statuses: ['failed', 'waiting'] })).items).toEqual([]);
    const gets = [];
    for (let cursor: string | undefined = '0'; cursor !== undefined; ) {
      const page: Awaited<ReturnType<typeof trace>> = await trace(many, {
        limit: 7,
        step: 'get',
        statuses: ['completed'],
        cursor,
      });
      expect(page.total).toBe(33);
      expect(page.items.length).toBeLessThanOrEqual(7);
      gets.push(...page.items);
      cursor = page.nextCursor;
    }
    expect(gets).toEqual(whole.items.filter(({ stepSlug }) => stepSlug === 'get'));
  });

  it('refuses a cursor that no page gave, and says when there is no such run', async () => {
    const handle = await startRun(server, twice);
    await waitsAt(handle, 'first');
    await expect(trace(handle, { cursor: '-1' })).rejects.toMatchObject({ code: 'invalid_cursor' });
    await expect(readTrace(server, 'run.default.none.1')).rejects.toMatchObject({ code: 'not_found' });
    await handle.terminate();
    expect((await trace(handle)).items[1]).toMatchObject({ path: 'first', status: 'cancelled' });
  });
});

describe('the fold of a run', () => {
  it('equals its state while some branches work and others wait', async () => {
    const handle = await startRun(server, abreast);
    await waitsAt(handle, 'all/person/ask');
    await expectSame(handle);
    await handle.executeUpdate('approve', { args: [{ by: 'ann', key: 'k1' }] });
    await handle.result();
    await expectSame(handle);
    expect((await trace(handle)).uncertain).toBe(false);
  });

  it('equals its state after a cancellation', async () => {
    const handle = await startRun(server, abreast);
    await waitsAt(handle, 'all/person/ask');
    await handle.cancel();
    await handle.result().catch(() => undefined);
    await expectSame(handle);
  });

  it('equals its state under local activities, and where the walk gave way', async () => {
    const pure: Definition = {
      name: 'Pure',
      slug: 'pure',
      steps: {
        start: { stepType: 'trigger', nextSteps: { success: 'each' } },
        each: { stepType: 'loop', config: { items: '{{ input.items }}' }, nextSteps: { loop: 'mark', done: 'near' } },
        mark: { stepType: 'checkpoint' },
        near: {
          stepType: 'http',
          config: { url: 'https://example.com/near' },
          local: true,
          nextSteps: { success: 'ask' },
        },
        ask: { stepType: 'approval', config: { message: 'Go on?' } },
      },
    };
    const handle = await startRun(server, pure, { input: { items: Array.from({ length: 5_000 }, () => 0) } });
    await waitsAt(handle, 'ask');
    await expectSame(handle);
    expect((await trace(handle, { limit: 5_005 })).items.slice(-2)).toMatchObject([
      { path: 'near', status: 'completed', attempts: 1 },
      { path: 'ask', status: 'waiting' },
    ]);
    await handle.terminate();
  });

  it('equals its state while children start, report, and are cancelled', async () => {
    const parent: Definition = {
      name: 'Parent',
      slug: 'parent',
      steps: {
        each: {
          stepType: 'forEach',
          config: { items: [0, 1, 2, 3, 4, 5], concurrency: 3 },
          nextSteps: { item: 'race', done: 'ask' },
        },
        race: { stepType: 'race', nextSteps: { a: 'call', b: 'rest' } },
        call: { stepType: 'run_workflow', config: { workflow: 'child', input: '{{ index }}' } },
        rest: { stepType: 'sleep', config: { duration: '{{ index % 2 == 0 ? 60000 : 120 }}' } },
        ask: { stepType: 'approval', config: { message: 'Go on?' } },
      },
    };
    const handle = await startRun(server, parent);
    await waitsAt(handle, 'ask');
    await expectSame(handle);
    const page = await trace(handle);
    expect(page).toMatchObject({ uncertain: false });
    const calls = page.items.filter((step) => step.stepSlug === 'call');
    expect(calls.map((step) => step.status)).toContain('completed');
    expect(calls).toHaveLength(6);
    await handle.terminate();
  });

  it('equals its state when signals, updates and timers come as they like', async () => {
    const busy: Definition = {
      name: 'Busy',
      slug: 'busy',
      steps: {
        start: { stepType: 'trigger', nextSteps: { success: 'each' } },
        each: {
          stepType: 'forEach',
          config: { items: [0, 1, 2, 3, 4, 5, 6, 7], concurrency: 4 },
          nextSteps: { item: 'race', done: 'end' },
        },
        race: { stepType: 'race', nextSteps: { a: 'ask', b: 'rest', c: 'get', d: 'hear' }, onError: 'continue' },
        ask: { stepType: 'approval', config: { message: 'Go on?', timeout: 400 } },
        rest: { stepType: 'sleep', config: { duration: 100 } },
        get: { stepType: 'http', config: { url: 'https://example.com/x' }, nextSteps: { success: 'wait' } },
        wait: { stepType: 'sleep', config: { duration: 40 } },
        hear: { stepType: 'listen', config: { name: 'news', count: 3 } },
        end: { stepType: 'approval', config: { message: 'End?' } },
      },
    };
    const handles = await Promise.all(Array.from({ length: 6 }, () => startRun(server, busy)));
    await Promise.all(
      handles.map(async (handle, run) => {
        for (let n = 0; n < 12; n++) {
          const step = `each[${(n + run) % 8}]/race/a/ask`;
          const asked = [
            persistently(() => handle.signal('approve', { step })),
            persistently(() => handle.signal('message', { name: 'news', payload: n })),
            handle.executeUpdate('reject', { args: [{ step, key: `${n}` }] }).catch(() => undefined),
            persistently(() => handle.signal('skipTimer', { step: `each[${n % 8}]/race/b/rest` })),
          ];
          await Promise.all(asked.slice(0, 1 + ((n + run) % 4)));
          // The others were sent as well: what becomes of them is shown by the run.
          for (const other of asked) void Promise.resolve(other).catch(() => undefined);
        }
        await waitsAt(handle, 'end');
        await expectSame(handle);
        expect(await trace(handle)).toMatchObject({ uncertain: false });
        await handle.terminate();
      }),
    );
  });
});
