/** A run that has returned with `drain` waits for the effects in flight; their answers are kept, and lead nowhere. */
import type { Outcome, Resume } from '../../steps/kind.ts';
import type { Core } from '../state/core.ts';
import { failureOf } from '../state/failure.ts';
import type { Frame } from '../state/state.ts';
import { endIfDrained } from '../walk/ending.ts';
import { endQuietly } from '../walk/outcome.ts';
import type { VisitRef } from '../walk/record.ts';
import { currentPlace, resumed } from '../walk/walk.ts';

/** The answer to a command of this visit. What its kind would do next is not begun. */
export function drained(core: Core, frame: Frame, path: string, event: Resume): void {
  const place = currentPlace(core, frame, path);
  if (place?.visit !== undefined && place.visit.open.length === 0)
    endQuietly(core, place, outcomeOf(core, place, event));
  endIfDrained(core);
}

function outcomeOf(core: Core, place: VisitRef, event: Resume): Outcome {
  try {
    return resumed(core, place, event);
  } catch (error) {
    return { do: 'fail', error: failureOf(error) };
  }
}
