/** Reads the ends of activities in the history: lists of segments, failed attempts. */

import { PAUSE_PREFIX, SEGMENT_ACTIVITY_ID } from '../contract/run/activity.ts';
import { completedSegment, failedSegment, type SegmentOutcome } from '../engine/segment.ts';
import { type FailureCause, failureOfCause } from '../engine/state/failure-causes.ts';
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

/** The most failed attempts of one activity that are reported. Earlier ones are only counted. */
const MAX_REPORTED_FAILURES = 100;

/** The id of the local activity that this event continues: by a regular one, or by a pause before it. Empty if none. */
export function continuedActivityId(event: TaskEvents['issued'][number]): string {
  if (event.type === 'activityScheduled') return event.activityId;
  return event.type === 'timerStarted' && event.summary.startsWith(PAUSE_PREFIX)
    ? event.summary.slice(PAUSE_PREFIX.length)
    : '';
}

/** Whether a local activity that has ended was a segment. */
export const isSegmentMarker = ({ summary, backoff }: LocalMarker): boolean =>
  summary === SEGMENT_ACTIVITY_ID && !backoff;

/** How many segments begin in the task, or began before it and end in it as local activities. */
export function segmentsBegunIn({ issued, markers }: TaskEvents): number {
  const regular = issued.filter(
    (event) => event.type === 'activityScheduled' && event.activityId === SEGMENT_ACTIVITY_ID,
  );
  return regular.length + markers.filter(isSegmentMarker).length;
}

/** What a segment that is a regular activity has ended with. */
export function segmentOutcomeIn(answer: ActivityAnswer): SegmentOutcome {
  if (answer.type === 'activityCompleted') return completedSegment(answer.result);
  return failedSegment(answer.cause.kind === 'timeout' ? answer.cause.lastHeartbeat : undefined);
}

/** Of the attempts of an activity the history has their number, and why the last but one failed. */
export function failuresBefore(before: number, start: ActivityStart | undefined): FailedAttempt[] {
  const attempts = start?.attempt ?? 1;
  const first = Math.max(1, attempts - MAX_REPORTED_FAILURES);
  return Array.from({ length: attempts - first }, (_, n): FailedAttempt => {
    const attempt = first + n;
    const known = attempt === attempts - 1 ? start?.lastFailure : undefined;
    return { attempt: before + attempt, ...(known === undefined ? {} : { error: failureOfCause(known) }) };
  });
}
