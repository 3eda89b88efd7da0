import { type Client, ServiceError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { type RunStart, startPreparedRun } from '../../src/client/starts/start-prepared-run.ts';
import type { WriteAccess } from '../../src/client/temporal/access.ts';

// Starts of runs whose answer is lost: the run is looked up by its id before the caller gets `outcome_unknown`.

const DEADLINE_EXCEEDED = 4;

interface Started {
  readonly workflowId: string;
  readonly memo: { readonly [name: string]: unknown };
}

/** A Temporal that carries out starts or drops them, and loses their answers. */
function losing(drops: boolean): { access: WriteAccess; calls: string[]; runs: Map<string, Started> } {
  const calls: string[] = [];
  const runs = new Map<string, Started>();
  const workflow = {
    async start(type: string, options: Started): Promise<void> {
      calls.push('start');
      if (runs.has(options.workflowId))
        throw new WorkflowExecutionAlreadyStartedError('Started before.', options.workflowId, type);
      if (!drops) runs.set(options.workflowId, options);
      const cause = Object.assign(new Error('Deadline exceeded'), {
        code: DEADLINE_EXCEEDED,
        details: '',
        metadata: {},
      });
      throw new ServiceError('No answer', { cause });
    },
    getHandle: (workflowId: string) => ({
      async describe() {
        calls.push('describe');
        const run = runs.get(workflowId);
        if (run === undefined) throw new WorkflowNotFoundError('None.', workflowId, undefined);
        return { workflowId, memo: run.memo, status: { name: 'RUNNING' }, startTime: new Date() };
      },
    }),
  };
  const client = { workflow, withDeadline: (_until: number, act: () => Promise<unknown>) => act() };
  const access = {
    client: client as unknown as Client,
    taskQueue: 'q',
    limits: { overflow: 'queue' },
    beforeWrite: async () => undefined,
  } as unknown as WriteAccess;
  return { access, calls, runs };
}

const START: RunStart = {
  definition: { name: 'A', slug: 'a', steps: { end: { stepType: 'finish' } } },
  input: {},
  trigger: { type: 'manual' },
};
const keyed = (fingerprint: string): RunStart => ({ ...START, key: { scope: 's', key: 'k', fingerprint } });

describe('a start whose answer is lost', () => {
  it.each([
    ['without a key', START, 'started'],
    ['with a key', keyed('f'), 'repeated'],
  ])('%s answers the run that it has started', async (_what, start, outcome) => {
    const { access, runs } = losing(false);
    const begun = await startPreparedRun(access, 'default', start);
    expect([...runs.keys()]).toEqual([begun.executionId]);
    expect(begun.outcome).toBe(outcome);
  });

  it('is unknown where there is no run yet', async () => {
    const { access, calls } = losing(true);
    await expect(startPreparedRun(access, 'default', keyed('f'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(calls.filter((call) => call === 'start')).toHaveLength(1);
  });

  it('reports where the key belongs to another request', async () => {
    const { access } = losing(false);
    await startPreparedRun(access, 'default', keyed('f'));
    await expect(startPreparedRun(access, 'default', keyed('g'))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });
});
