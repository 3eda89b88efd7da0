/** Applies the requests of people: decisions, input, and operations on steps. Each key is answered once. */

import type { Accepted, Refusal } from '../../contract/run/run.ts';
import { assert } from '../../json/assert.ts';
import { jsonBytes } from '../../json/bytes.ts';
import type { Core } from '../state/core.ts';
import { REMEMBERED_IDS } from '../state/limits.ts';
import { shorten } from '../state/paths.ts';
import type { Event } from '../state/protocol.ts';
import type { RunState } from '../state/state.ts';
import { type AddressedEvent, findTarget, pathOf, resumeOf, type StepAddress } from '../walk/address.ts';
import { cancelCommand, openCommand } from '../walk/commands.ts';
import { failVisit } from '../walk/outcome.ts';
import { findVisit, resumeNow } from '../walk/walk.ts';

/** A signal that no visit accepts is dropped. An update is refused instead (E5). */
export function applyRequest(core: Core, event: AddressedEvent, known: StepAddress | Refusal | undefined): void {
  const { state } = core;
  if (rememberedAnswer(state, event) !== undefined) return;
  const found = known ?? findTarget(core, event);
  if ('code' in found) return;
  const { frame, visit } = found;
  if ('data' in event) state.bytes += jsonBytes(event.data);
  rememberAnswer(state, event.key, pathOf(found));
  const { path } = visit;
  switch (event.type) {
    case 'decide':
    case 'submit':
      // Not queued, even while the run is paused: the visit ends now, so a second decision is refused (E5).
      resumeNow(core, frame, path, resumeOf(event, found.ask));
      return;
    case 'skipTimer': {
      // The visit's own timer; without it (an escalated approval), the timer that was opened last.
      const timers = visit.commands.filter((open) => state.openCommands[open]?.type === 'timer');
      const id = timers.find((open) => open === path) ?? timers.at(-1);
      const timer = id === undefined ? undefined : state.openCommands[id];
      assert(id !== undefined && timer !== undefined, 'The request is refused where no timer is open.');
      visit.commands.splice(visit.commands.indexOf(id), 1);
      cancelCommand(core, id);
      if (timer.type === 'timer')
        state.work.push({ do: 'resume', frame: frame.id, path, event: { on: 'fired', suffix: timer.suffix } });
      return;
    }
    case 'retryStep':
      for (const id of visit.commands.filter((open) => state.openCommands[open]?.type === 'run'))
        retryCommand(core, id);
      return;
    case 'cancelStep': {
      const ref = findVisit(core, frame, path);
      assert(ref !== undefined, 'The request is refused where no visit is open.');
      failVisit(core, ref, {
        code: 'step_cancelled',
        message: `The step was cancelled${event.by === undefined ? '' : ` by ${event.by}`}.`,
        retryable: false,
      });
    }
  }
}

/** Starts a new attempt immediately, under a new id (E3), with the same config and the same idempotency key. */
function retryCommand(core: Core, id: string): void {
  const { state } = core;
  const running = state.openCommands[id];
  if (running?.type !== 'run') return;
  const visit = state.frames[running.frame]?.visit;
  if (visit === undefined) return;
  visit.commands.splice(visit.commands.indexOf(id), 1);
  cancelCommand(core, id);
  const attempt = running.attempt + 1;
  const next = `${id.replace(/![0-9]+$/, '')}!${attempt}`;
  openCommand(core, next, { ...running, attempt, command: { ...running.command, id: next } }, visit);
}

/**
 * The answer to an earlier request with the same key. The repeat has no effect: a repeated pause does not pause a run
 * that has resumed since.
 */
export function rememberedAnswer(state: RunState, event: Event): Accepted | undefined {
  const key = 'key' in event && event.key !== undefined ? rememberedKey(event.key) : undefined;
  return key !== undefined && Object.hasOwn(state.requestAnswers, key) ? state.requestAnswers[key] : undefined;
}

export function rememberAnswer(state: RunState, key: string | undefined, path: string): void {
  if (key === undefined) return;
  state.requestAnswers[rememberedKey(key)] = { accepted: true, path };
  const keys = Object.keys(state.requestAnswers);
  if (keys.length > REMEMBERED_IDS) delete state.requestAnswers[keys[0]!];
}

/** Keys come from outside. Long keys are hashed, and the prefix keeps numeric keys in insertion order. */
function rememberedKey(key: string): string {
  return shorten(`:${key}`);
}
