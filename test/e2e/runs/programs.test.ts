// The programs of test/programs once more, on the real server: what the simulated clock promises is what happens. Runs
// continue as new every few events.

import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTrace } from '../../../src/client/runs/trace.ts';
import type { RunError, RunStatus } from '../../../src/contract/run/run.ts';
import { loadPrograms, type ProgramFile } from '../../programs/load.ts';
import { startWorker, type TestServer, type TestWorker, testServer } from '../../support/temporal.ts';
import { play, playedEffect, scriptOf } from './play-programs.ts';
import { until } from './run-support.ts';

/** Programs that only the simulated clock can play, with the reason. */
const SIMULATED_ONLY: { readonly [name: string]: string } = {
  'listen-timeouts': 'waits until a day that has passed on the real clock',
  'tool-transforms': 'its code is a local activity, which has no id to be played by',
  'decision-after-the-timeout': 'a timeout that is skipped has not come by the clock',
};

/** Activities whose answers stand in the programs. */
const EFFECTS = ['http', 'llm', 'tool', 'hostAction', 'runCode', 'bash', 'agentTurn', 'messageRun'];

const programs = loadPrograms().filter((file) => file.expect !== undefined && SIMULATED_ONLY[file.name] === undefined);

let server: TestServer;
let worker: TestWorker;

beforeAll(async () => {
  // The programs state the limits that hold without a blob store; large-runs.long.test.ts has those with one.
  server = await testServer({ SIGNALBOX_HISTORY_LIMIT: '20', SIGNALBOX_BLOBS: 'off' });
  const played = Object.fromEntries(EFFECTS.map((name) => [name, playedEffect]));
  worker = await startWorker(server, { activities: played });
});

afterAll(async () => {
  await worker.stop();
  await server.close();
});

describe('programs on the real server', () => {
  it.concurrent.each(programs)('$name', async (file) => {
    const handle = await play(server, file);
    const wanted = file.expect!;
    if (wanted.status === 'waiting' || wanted.status === 'running') {
      await until(
        () => handle.query<{ status: RunStatus }>('status'),
        ({ status }) => status === wanted.status,
      );
    } else {
      const ended = await outcome(handle.result());
      expect({ status: ended.status, error: ended.error?.code }).toEqual({
        status: wanted.status,
        error: wanted.error?.code,
      });
      if (wanted.error !== undefined) expect(ended.error).toMatchObject(wanted.error);
      if (wanted.output !== undefined && !tellsTime(file)) expect(ended.output).toEqual(wanted.output);
    }
    const { items, uncertain } = await readTrace(
      { client: server.client, namespace: server.namespace },
      handle.workflowId,
    );
    const trace = items.map(({ path, status, port }) =>
      [path, status, ...(port === undefined ? [] : [port])].join(' '),
    );
    if (wanted.trace !== undefined) expect(trace).toEqual(wanted.trace);
    if (wanted.traceIncludes !== undefined) {
      const rows = new Set(wanted.traceIncludes);
      expect(trace.filter((row) => rows.has(row))).toEqual(wanted.traceIncludes);
    }
    expect(uncertain).toBe(false);
    if (wanted.status === 'waiting') await handle.terminate('The test is over.');
  });
});

/** The simulated clock stands in what the program expects: the real one is later. */
function tellsTime(file: ProgramFile): boolean {
  return /2026-\d\d-\d\d|17684\d{8}/.test(JSON.stringify(file.expect));
}

interface Ended {
  readonly status: RunStatus;
  readonly output?: unknown;
  readonly error?: RunError;
}

async function outcome(result: Promise<unknown>): Promise<Ended> {
  try {
    return { status: 'completed', output: await result };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    if (error.cause instanceof CancelledFailure) return { status: 'cancelled' };
    if (error.cause instanceof ApplicationFailure)
      return { status: 'failed', error: error.cause.details?.[0] as RunError };
    throw error;
  }
}

it('plays every kind of event somewhere', () => {
  const types = new Set(programs.flatMap((file) => scriptOf(file).events.map((event) => event.type)));
  expect([...types]).toEqual(
    expect.arrayContaining([
      'completed',
      'failed',
      'fired',
      'message',
      'decide',
      'submit',
      'cancel',
      'skipTimer',
      'pause',
      'resume',
    ]),
  );
});
