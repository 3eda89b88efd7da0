/** The same work as somebody would write it by hand on Temporal. */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

interface Activities {
  nothing(): Promise<number>;
}
const regular = proxyActivities<Activities>({ startToCloseTimeout: 30_000 });
const local = proxyLocalActivities<Activities>({ startToCloseTimeout: 2_000 });
/** Events after which a workflow continues as new. */
const HISTORY_LIMIT = 1_000;

export async function sequence(count: number, isLocal: boolean, from = 0): Promise<number> {
  const { nothing } = isLocal ? local : regular;
  let last = 0;
  for (let n = from; n < count; n++) {
    last = await nothing();
    if (workflowInfo().historyLength >= HISTORY_LIMIT && n + 1 < count)
      await continueAsNew<typeof sequence>(count, isLocal, n + 1);
  }
  return last;
}

export async function approval(isLocal: boolean): Promise<number> {
  let isApproved = false;
  setHandler(defineSignal('approve'), () => {
    isApproved = true;
  });
  await condition(() => isApproved);
  return (isLocal ? local : regular).nothing();
}
