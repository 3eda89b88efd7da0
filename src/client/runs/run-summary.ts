/**
 * The summary of a run: what each step did, in numbers, and the iterations of its containers in ranges
 * (src/history/summary.ts). Its size does not grow with the number of visits. The runs of the chain are folded once and
 * cached as for the trace.
 */

import { ambiguitiesOf, outlinesOf, totalOf } from '../../history/chain.ts';
import type { Unreadable } from '../../history/events.ts';
import * as summary from '../../history/summary.ts';
import type { RowOutline, TraceRow } from '../../history/trace-rows.ts';
import { assert } from '../../json/assert.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { CooperativeScheduler } from '../concurrency/cooperative-scheduler.ts';
import type { Access } from '../temporal/access.ts';
import { iso, isoTimespan } from '../temporal/timestamps.ts';
import { runEndOf } from './event-stream.ts';
import { eventIdOf } from './run-events.ts';
import { eventUrlOf } from './run-view.ts';
import { describeLastRun, readChain } from './trace-chain.ts';

/** A visit that a summary points to. Times are ISO 8601. */
interface VisitRef {
  readonly path: string;
  readonly status: TraceRow['status'];
  readonly port?: string;
  readonly frame?: string;
  readonly startedAt: string;
  readonly completedAt?: string;
  readonly eventId?: number;
  readonly temporalUrl?: string;
}

export interface StepSummary
  extends Omit<
    summary.StepSummary,
    'firstStartedAt' | 'lastStartedAt' | 'lastCompletedAt' | 'last' | 'open' | 'failed'
  > {
  readonly firstStartedAt: string;
  readonly lastStartedAt: string;
  readonly lastCompletedAt?: string;
  readonly last: VisitRef;
  readonly open?: VisitRef;
  readonly failed?: VisitRef;
}

export interface IterationRange extends Omit<summary.IterationRange, 'startedAt' | 'completedAt'> {
  readonly startedAt: string;
  readonly completedAt?: string;
}

export interface ContainerSummary extends Omit<summary.ContainerSummary, 'ranges'> {
  readonly ranges: readonly IterationRange[];
}

export interface RunSummary {
  readonly id: string;
  /** The Temporal run that the answer ends with. */
  readonly runId: string;
  /** All visits of the run. */
  readonly total: number;
  /** Those that the answer counts. */
  readonly counted: number;
  /** The run has more visits than are counted. */
  readonly partial?: true;
  readonly within?: string;
  /** A stream of events continues after it. */
  readonly lastEventId: string;
  /** The history is ambiguous (E6). */
  readonly uncertain: boolean;
  readonly unreadable?: Unreadable;
  readonly steps: readonly StepSummary[];
  readonly containers: readonly ContainerSummary[];
}

/**
 * The caller checks that the execution may be seen.
 * @throws ClientError `not_found`, `temporal_unreachable`.
 */
export async function readSummary(
  access: Access,
  executionId: string,
  query: summary.SummaryQuery,
): Promise<RunSummary> {
  const lastRun = await describeLastRun(access, executionId, undefined);
  const chain = await readChain(access, executionId, lastRun);
  const last = chain.at(-1);
  assert(last !== undefined, 'A chain has at least one run.');
  const briefs = outlinesOf(chain);
  const total = totalOf(chain);
  const { counted, steps, containers } = await new CooperativeScheduler().run(summary.summaryOf(briefs, query));
  const { eventCount = 0, closed } = last;
  const hasEnded =
    closed !== undefined &&
    closed.how !== 'continued' &&
    (await runEndOf(access, executionId, last.runId, closed)) !== undefined;
  const unreadable = chain.find((run) => run.unreadable !== undefined)?.unreadable;
  const ref = (row: RowOutline): VisitRef => refOf(access, executionId, row);
  return {
    id: executionId,
    runId: last.runId,
    total,
    counted,
    ...(briefs.length < total ? { partial: true as const } : {}),
    ...omitUndefined({ within: query.within }),
    lastEventId: eventIdOf(last.runId, hasEnded ? eventCount + 1 : eventCount),
    uncertain: ambiguitiesOf(chain).length > 0,
    ...omitUndefined({ unreadable }),
    steps: steps.map(({ firstStartedAt, lastStartedAt, lastCompletedAt, last, open, failed, ...step }) => ({
      ...step,
      firstStartedAt: iso(firstStartedAt),
      lastStartedAt: iso(lastStartedAt),
      ...(lastCompletedAt === undefined ? {} : { lastCompletedAt: iso(lastCompletedAt) }),
      last: ref(last),
      ...(open === undefined ? {} : { open: ref(open) }),
      ...(failed === undefined ? {} : { failed: ref(failed) }),
    })),
    containers: containers.map(({ ranges, ...container }) => ({
      ...container,
      ranges: ranges.map(({ startedAt, completedAt, ...range }) => ({
        ...range,
        ...isoTimespan(startedAt, completedAt),
      })),
    })),
  };
}

function refOf(access: Access, executionId: string, row: RowOutline): VisitRef {
  const { path, status, port, frame, eventId, runId, startedAt, completedAt } = row;
  const temporalUrl = eventUrlOf(access, executionId, runId, eventId);
  return {
    path,
    status,
    ...omitUndefined({ port, frame, eventId, temporalUrl }),
    ...isoTimespan(startedAt, completedAt),
  };
}
