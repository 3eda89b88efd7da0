/**
 * The workflow `fire`: one tick of a schedule (ARCHITECTURE.md §4). It starts the run and, unless runs of the schedule may overlap,
 * stays open until that run has ended, since that is what Temporal's overlap policies look at. Cancelled, it ends the run.
 */
import {
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { FireActivities, FireResult, FireStart } from '../../src/contract/fire.ts';

/** A run that was terminated tells nobody: the pause between looks doubles from the first to the last. */
const FIRST_LOOK_MS = 60_000;
const LAST_LOOK_MS = 6 * 60 * 60 * 1000;

const { fireSchedule, endFired, isFiredOpen } = proxyActivities<FireActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
});

export async function fire({ organizationId, triggerId, stays }: FireStart): Promise<FireResult> {
  let ended = false;
  setHandler(defineSignal('childDone'), () => {
    ended = true;
  });
  const { workflowId } = workflowInfo();
  // What has begun is finished: a run that a cancellation left behind would be nobody's.
  const started = await CancellationScope.nonCancellable(() =>
    fireSchedule({
      organizationId,
      triggerId,
      time: tickTime(),
      ...(stays === undefined ? {} : { notify: workflowId }),
    }),
  );
  if (stays === undefined || !('executionId' in started)) return started;
  const { executionId } = started;
  const untilEnded = async () => {
    // The run that was there already tells whoever started it.
    if (!started.created) ended = !(await isFiredOpen({ organizationId, executionId }));
    for (let pauseMs = FIRST_LOOK_MS; !ended; pauseMs = Math.min(pauseMs * 2, LAST_LOOK_MS)) {
      if (!(await condition(() => ended, pauseMs))) ended = !(await isFiredOpen({ organizationId, executionId }));
    }
  };
  try {
    await untilEnded();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => {
      await endFired({ organizationId, executionId, how: stays });
      // Only a run that ends by itself tells so; one that was terminated is gone already.
      if (stays === 'terminate') return;
      await untilEnded();
    });
  }
  return started;
}

/** When the tick was due, as the schedule named the time; started by hand, now. */
function tickTime(): string {
  const [time] = (workflowInfo().searchAttributes['TemporalScheduledStartTime'] as Date[] | undefined) ?? [];
  return (time ?? new Date()).toISOString();
}
