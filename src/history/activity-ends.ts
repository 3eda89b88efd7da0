/** What the ends of activities in the history say to the core: events, lists of segments, failed attempts. */

import { NOT_LIGHT, PAUSE, SEGMENT } from '../contract/activity.ts';
import { completedSegment, failedSegment, type SegmentOutcome } from '../engine/segment.ts';
import { type FailureCause, failureOfCause } from '../engine/state/causes.ts';
import { resolvedIn } from '../engine/state/child-run.ts';
import { completionOf, INVALID_RESULT } from '../engine/state/effect-results.ts';
import type { Event } from '../engine/state/protocol.ts';
import type { LocalMarker } from './events.ts';
import type { AnswerEvent, TaskEvents } from './task-events.ts';
import type { FailedAttempt } from './trace-rows.ts';

/** How an open activity began. `at`: milliseconds since 1970. */
export interface ActivityStart {
  readonly attempt: number;
  readonly at: number;
  readonly lastFailure?: FailureCause;
}

export type ActivityAnswer = Extract<AnswerEvent, { type: 'activityCompleted' | 'activityFailed' }>;

/** Failed attempts of one activity that are told; earlier ones are only counted. */
const MOST_FAILURES = 100;

/** The id of the local activity that this event continues: by a regular one, or by a pause before it. Empty if none. */
export function goesOn(event: TaskEvents['issued'][number]): string {
  if (event.type === 'activityScheduled') return event.activityId;
  return event.type === 'timerStarted' && event.summary.startsWith(PAUSE) ? event.summary.slice(PAUSE.length) : '';
}

/** Whether a local activity that has ended was a segment. */
export const isOfSegment = ({ summary, backoff }: LocalMarker): boolean => summary === SEGMENT && !backoff;

/** How many segments begin in the task, or began before it and end in it as local activities. */
export function segmentsBegunIn({ issued, markers }: TaskEvents): number {
  const regular = issued.filter((event) => event.type === 'activityScheduled' && event.activityId === SEGMENT);
  return regular.length + markers.filter(isOfSegment).length;
}

/** What a segment that is a regular activity has ended with. */
export function segmentOutcomeIn(answer: ActivityAnswer): SegmentOutcome {
  if (answer.type === 'activityCompleted') return completedSegment(answer.result);
  return failedSegment(answer.cause.kind === 'timeout' ? answer.cause.lastHeartbeat : undefined);
}

/** Whether the attempt found a step that is not light, and did nothing. */
export function isNotLight(cause: FailureCause): boolean {
  return cause.kind === 'application' && cause.type === NOT_LIGHT;
}

/** Of the attempts of an activity the history has their number, and why the last but one failed. */
export function failuresBefore(before: number, start: ActivityStart | undefined): FailedAttempt[] {
  const attempts = start?.attempt ?? 1;
  const first = Math.max(1, attempts - MOST_FAILURES);
  return Array.from({ length: attempts - first }, (_, n): FailedAttempt => {
    const attempt = first + n;
    const known = attempt === attempts - 1 ? start?.lastFailure : undefined;
    return { attempt: before + attempt, ...(known === undefined ? {} : { error: failureOfCause(known) }) };
  });
}

/** The event of an activity's failure. `attempts`: how many failed, where there will be no other. */
export function failureEvent(id: string, at: number, cause: FailureCause, attempts?: number): Event & { id: string } {
  return { type: 'failed', at, id, error: failureOfCause(cause, attempts) };
}

/**
 * The event of an activity's result, which may have another form if it was given by hand. `isChild`: the activity
 * resolves the definition of a child.
 */
export function resultEvent(id: string, at: number, result: unknown, isChild: boolean): Event & { id: string } {
  if (isChild && resolvedIn(result) === undefined) return { type: 'failed', at, id, error: INVALID_RESULT };
  return completionOf(id, at, result);
}
