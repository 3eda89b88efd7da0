/** Applies the results of commands and child runs. */
import type { Outcome, Resume } from '../../steps/kind.ts';
import { childRunId } from '../state/child-run.ts';
import type { Core } from '../state/core.ts';
import { countUsage } from '../state/costs.ts';
import { failureOf } from '../state/failure.ts';
import { RECORD_OVERHEAD } from '../state/limits.ts';
import { valueBytes } from '../state/measure.ts';
import type { Event } from '../state/protocol.ts';
import { charge, mayQueueResult, stateTooLarge } from '../state/space.ts';
import type { Frame, OpenCommand, RunState } from '../state/state.ts';
import { closeCommand } from '../walk/commands.ts';
import { endIfDrained, failRun, rollbackStepEnded, runTimeoutMs } from '../walk/ending.ts';
import { endInnerRow } from '../walk/inner-rows.ts';
import { endWhileDraining } from '../walk/outcome.ts';
import type { VisitRef } from '../walk/visit-end.ts';
import { findVisit, resumeKind } from '../walk/walk.ts';

/** Applies the result of a command. A result for a command that is not open is ignored (E4). */
export function applyCompletion(core: Core, event: CompletionEvent): void {
  const { state } = core;
  if (!Object.hasOwn(state.openCommands, event.id) || state.backlog.includes(event.id)) return;
  const command = state.openCommands[event.id]!;
  if (!isAnswerTo(event.type, command)) return;
  if (command.type === 'rollback') {
    rollbackStepEnded(core, event.id, event.type === 'failed' ? event.error : undefined);
    return;
  }
  closeCommand(core, event.id);
  countUsage(state, event);
  if (command.type === 'deadline') {
    failRun(core, {
      code: 'run_timeout',
      message: `The run did not end within its timeout of ${runTimeoutMs(core)} ms.`,
      retryable: false,
    });
    return;
  }
  const frame = state.frames[command.frame];
  const visit = frame?.visit;
  if (frame === undefined || visit?.path !== command.path) return;
  const at = visit.commands.indexOf(event.id);
  if (at >= 0) visit.commands.splice(at, 1);
  const { path } = command;
  const resume = withinQueueLimit(core, resumeFrom(state, event, command));
  if (resume.on === 'completed') endInnerRow(core, visit, resume.suffix, { result: resume.result });
  else if (resume.on === 'failed') endInnerRow(core, visit, resume.suffix, { error: resume.error });
  if (state.draining !== undefined) completeWhileDraining(core, frame, path, resume);
  else state.work.push({ do: 'resume', frame: frame.id, path, event: resume });
}

/** A result that does not fit into the queue fails its step now, as it would when it is walked. */
function withinQueueLimit(core: Core, resume: Resume): Resume {
  if (resume.on !== 'completed') return resume;
  const { suffix, result } = resume;
  const bytes = valueBytes(result.data) + valueBytes(result.meta);
  if (!mayQueueResult(core, bytes)) {
    const limit = core.program.dataBytes();
    return { on: 'failed', suffix, error: failureOf(stateTooLarge("The step's result", bytes, limit)) };
  }
  charge(core, bytes + RECORD_OVERHEAD);
  return resume;
}

type CompletionEvent = Extract<Event, { type: 'completed' | 'failed' | 'fired' | 'childDone' }>;

function resumeFrom(state: RunState, event: CompletionEvent, command: OpenCommand & { suffix: string }): Resume {
  const { suffix } = command;
  switch (event.type) {
    case 'completed':
      return { on: 'completed', suffix, result: event.result };
    case 'failed':
      return { on: 'failed', suffix, error: event.error };
    case 'fired':
      return { on: 'fired', suffix };
    case 'childDone':
      return childEnd(state, event, command);
  }
}

/** The resume event for a child's end. The meta, or the error's details, name the child run. */
function childEnd(
  state: RunState,
  event: Extract<Event, { type: 'childDone' }>,
  command: OpenCommand & { suffix: string },
): Resume {
  const { suffix } = command;
  const executionId = command.type === 'child' ? childRunId(state.genesis, event.id, command.child.workflow) : '';
  if (event.error === undefined)
    return { on: 'completed', suffix, result: { data: event.output ?? null, meta: { executionId } } };
  const { details, ...error } = event.error;
  return {
    on: 'failed',
    suffix,
    error: { ...error, details: details === undefined ? { executionId } : { executionId, cause: details } },
  };
}

/**
 * Notes that the child runs, so a later execution does not start it again. A step that does not wait for it continues.
 */
export function applyChildStarted(core: Core, id: string): void {
  const { state } = core;
  const command =
    Object.hasOwn(state.openCommands, id) && !state.backlog.includes(id) ? state.openCommands[id] : undefined;
  if (command?.type !== 'child') return;
  command.started = true;
  if (command.child.wait !== false) return;
  const executionId = childRunId(state.genesis, id, command.child.workflow);
  applyCompletion(core, { type: 'childDone', id, output: { executionId }, at: state.now });
}

function isAnswerTo(type: 'completed' | 'failed' | 'fired' | 'childDone', command: OpenCommand): boolean {
  switch (command.type) {
    case 'timer':
    case 'deadline':
      return type === 'fired';
    case 'child':
      return type === 'childDone' || type === 'failed';
    default:
      return type === 'completed' || type === 'failed';
  }
}

/** A run that has returned with `drain` stores the results of activities in flight. Their steps lead nowhere. */
function completeWhileDraining(core: Core, frame: Frame, path: string, event: Resume): void {
  const ref = findVisit(core, frame, path);
  if (ref?.visit !== undefined && ref.visit.commands.length === 0)
    endWhileDraining(core, ref, outcomeOf(core, ref, event));
  endIfDrained(core);
}

function outcomeOf(core: Core, ref: VisitRef, event: Resume): Outcome {
  try {
    return resumeKind(core, ref, event);
  } catch (error) {
    return { do: 'fail', error: failureOf(error) };
  }
}
