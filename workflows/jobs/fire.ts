/**
 * The workflow `fire`: one tick of a schedule (ARCHITECTURE.md §4). It starts the run. Where runs of the schedule may
 * not overlap, it stays open until that run has ended, because Temporal's overlap policies look at this workflow. When
 * it is cancelled, it ends the run.
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
import type { FireActivities, FireResult, FireStart } from '../../src/contract/triggers/fire.ts';

/**
 * A terminated run sends no signal, so its status is read, at first after this pause. Each further pause is twice as
 * long.
 */
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 6 * 60 * 60 * 1000;

const { fireSchedule, endFired, isFiredOpen } = proxyActivities<FireActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '60s' },
});

export async function fire({ organizationId, triggerId, stays, asOf }: FireStart): Promise<FireResult> {
  let ended = false;
  setHandler(defineSignal('childDone'), () => {
    ended = true;
  });
  const { workflowId } = workflowInfo();
  // A cancellation does not interrupt the start: nothing would end the run.
  const started = await CancellationScope.nonCancellable(() =>
    fireSchedule({
      organizationId,
      triggerId,
      time: tickTime(),
      ...(asOf === undefined ? {} : { asOf }),
      ...(stays === undefined ? {} : { notify: workflowId }),
    }),
  );
  if (stays === undefined || !('executionId' in started)) return started;
  const { executionId } = started;
  const untilEnded = async () => {
    // A run that existed already sends its signal to the workflow that started it.
    if (!started.created) ended = !(await isFiredOpen({ organizationId, executionId }));
    for (let pauseMs = FIRST_PAUSE_MS; !ended; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      if (!(await condition(() => ended, pauseMs))) ended = !(await isFiredOpen({ organizationId, executionId }));
    }
  };
  try {
    await untilEnded();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => {
      await endFired({ organizationId, executionId, how: stays });
      // A terminated run has ended already, and sends no signal.
      if (stays === 'terminate') return;
      await untilEnded();
    });
  }
  return started;
}

/** The time of the tick, as the schedule has it. Now, where the workflow was started by hand. */
function tickTime(): string {
  const [time] = (workflowInfo().searchAttributes['TemporalScheduledStartTime'] as Date[] | undefined) ?? [];
  return (time ?? new Date()).toISOString();
}
