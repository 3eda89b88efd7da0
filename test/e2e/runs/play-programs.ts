/**
 * Plays a program of test/programs on the real server. The simulated clock says in which order its events come; here
 * they are made to come in that order: an activity answers when it is its turn, a timer that would take days is skipped
 * when its time would have come, and signals are sent in between. What then happens is the server's and the shell's.
 */
import { randomBytes } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { RunInput } from '../../../src/contract/run/run.ts';
import type { Definition, RetryPolicy, StepDefinition } from '../../../src/definition/document/types.ts';
import type { SimulatedAnswer } from '../../../src/engine/simulate.ts';
import type { Event } from '../../../src/engine/state/protocol.ts';
import type { RunState } from '../../../src/engine/state/state.ts';
import { RETRY_POLICIES } from '../../../src/steps/compile/retry.ts';
import type { ProgramFile } from '../../programs/load.ts';
import { simulateProgram } from '../../programs/run.ts';
import type { TestServer } from '../../support/temporal.ts';
import { until } from './run-support.ts';

/** Answers of effects that are played, by workflow id and activity id. */
const parts = new Map<string, Part>();

const DEADLINE = '$deadline';
/** Enough for what comes before it. */
const DEADLINE_MS = 3_000;

interface Part {
  readonly answers: ReadonlyMap<string, readonly SimulatedAnswer[]>;
  readonly turns: Map<string, () => void>;
  readonly come: Set<string>;
  over: boolean;
}

/** The worker's activity `http`. All attempts except the last answer immediately; the last one when it is its turn. */
export async function playedEffect(): Promise<unknown> {
  const { workflowExecution, activityId, attempt } = Context.current().info;
  const part = parts.get(workflowExecution!.workflowId);
  const answers = part?.answers.get(activityId) ?? [];
  const answer = answers[Math.min(attempt, answers.length) - 1];
  if (part === undefined || answer === undefined)
    throw ApplicationFailure.nonRetryable('Nothing is to be played here.', 'not_in_the_play');
  if (attempt >= answers.length && !part.come.has(activityId) && !part.over)
    await Promise.race([
      new Promise<void>((resolve) => part.turns.set(activityId, resolve)),
      Context.current().cancelled,
    ]);
  if ('result' in answer) return answer.result;
  const { code, message, ...rest } = answer.error;
  throw ApplicationFailure.create({
    type: code,
    message,
    nonRetryable: !answer.error.retryable,
    details: [{ ...rest, attempts: attempt }],
  });
}

/** A program on the simulated clock: its events in order, and the answers of each activity by attempt. */
export function scriptOf(file: ProgramFile): {
  events: readonly Event[];
  answers: ReadonlyMap<string, readonly SimulatedAnswer[]>;
} {
  const events: Event[] = [];
  const answers = new Map<string, SimulatedAnswer[]>();
  simulateProgram(file, {
    onEvent: (event) => events.push(event),
    onAnswer: (id, answer) => answers.set(id, [...(answers.get(id) ?? []), answer]),
  });
  return { events, answers };
}

/** Starts the program and lets its events come, to the end of the script. */
export async function play(server: TestServer, file: ProgramFile): Promise<WorkflowHandle> {
  const { events, answers } = scriptOf(file);
  const workflowId = `run.default.${file.definition.slug}.${randomBytes(8).toString('hex')}`;
  const part: Part = { answers, turns: new Map(), come: new Set(), over: false };
  parts.set(workflowId, part);
  const handle = await server.client.workflow.start('run', {
    taskQueue: server.taskQueue,
    workflowId,
    args: [
      {
        definition: quick(file.definition, events),
        input: file.input,
        trigger: { type: 'manual' },
        ...(file.presets === undefined ? {} : { presets: file.presets }),
      } satisfies RunInput,
    ],
  });
  for (const event of events) await happen(handle, part, event);
  part.over = true;
  for (const go of part.turns.values()) go();
  return handle;
}

async function happen(handle: WorkflowHandle, part: Part, event: Event): Promise<void> {
  switch (event.type) {
    case 'started':
    case 'continue':
      return;
    case 'completed':
    case 'failed':
      part.come.add(event.id);
      part.turns.get(event.id)?.();
      await until(
        () => stateOf(handle),
        (state) => state === undefined || !Object.hasOwn(state.openCommands, event.id),
        30_000,
      );
      return;
    case 'fired':
      await fire(handle, event.id);
      return;
    case 'cancel':
      await handle.cancel();
      return;
    default: {
      const { type, at: _at, ...payload } = event;
      await handle.signal(type, payload);
    }
  }
}

/** Ends the timer with this id unless it has fired. The run's deadline cannot be skipped: it is near and awaited. */
async function fire(handle: WorkflowHandle, id: string): Promise<void> {
  if (id === DEADLINE) {
    await until(
      () => stateOf(handle),
      (left) => left === undefined,
      30_000,
    );
    return;
  }
  const state = await stateOf(handle);
  const visit = Object.values(state?.frames ?? {}).find((frame) => frame.visit?.commands.includes(id) === true)?.visit;
  if (visit !== undefined) await handle.signal('skipTimer', { step: visit.path });
}

/** The state that the run answers to a query; undefined when it has ended. */
async function stateOf(handle: WorkflowHandle): Promise<RunState | undefined> {
  const { status } = await handle.describe();
  if (status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW') return undefined;
  return handle.query<RunState>('state');
}

/** The definition with short pauses between attempts, and a near deadline if it fires: real time takes longer. */
function quick(definition: Definition, events: readonly Event[]): Definition {
  const late = events.some((event) => event.type === 'fired' && event.id === DEADLINE);
  const hurried = (retry: StepDefinition['retry']): RetryPolicy => ({
    ...(typeof retry === 'string' ? { maxAttempts: RETRY_POLICIES[retry].maxAttempts } : retry),
    initialInterval: 20,
    maximumInterval: 20,
  });
  return {
    ...definition,
    config: {
      ...definition.config,
      ...(late ? { timeout: DEADLINE_MS } : {}),
      retryPolicy: hurried(definition.config?.retryPolicy),
    },
    steps: Object.fromEntries(
      Object.entries(definition.steps).map(([slug, step]) => [
        slug,
        {
          ...step,
          ...(step.retry === undefined ? {} : { retry: hurried(step.retry) }),
          ...(step.rollback?.retry === undefined
            ? {}
            : { rollback: { ...step.rollback, retry: hurried(step.rollback.retry) } }),
        },
      ]),
    ),
  };
}
