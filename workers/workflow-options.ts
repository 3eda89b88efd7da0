/**
 * Options of the worker that its workflows need. Among them are the settings that workflow code depends on: when a run
 * continues as new (SIGNALBOX_HISTORY_LIMIT), how much data a run may hold (SIGNALBOX_BLOBS), and whether failures are
 * encoded.
 *
 * They decide which commands a workflow gives. So a replay must see the settings of each task, not those of the worker
 * that replays: otherwise a change of one would break every run in flight. Temporal writes the worker's build id into
 * each WorkflowTaskCompleted, and hands it back for that task on replay. So the build id contains the settings
 * (src/contract/build-id.ts), and nothing else has to be recorded. Measured: five tasks of one run by workers of four
 * limits replay with the limit of each task, also in queries of the closed run and in Worker.runReplayHistory.
 */
import type { WorkerDeploymentOptions } from '@temporalio/worker';
import { buildIdOf, deploymentOf, type WorkerStamp } from '../src/contract/build-id.ts';

/**
 * How long one activation may compute. After that the worker's process ends
 * (src/temporal-internals/workflow-thread.ts). The core yields long before (src/engine/state/limits.ts), but a machine
 * with seven times its load reached the SDK's default of five seconds.
 */
export const ACTIVATION_MS = 30_000;

/**
 * Options for Worker.create that the interpreter needs. A stamp with the hash of the code makes Temporal choose workers
 * by version: each workflow continues with the current one (AUTO_UPGRADE), as histories of all versions replay
 * (TEMPORAL.md §11).
 */
export function workflowWorkerOptions(
  stamp: WorkerStamp,
  taskQueue: string,
): { workerDeploymentOptions: WorkerDeploymentOptions } {
  const version = { deploymentName: deploymentOf(taskQueue), buildId: buildIdOf(stamp) };
  return {
    workerDeploymentOptions:
      stamp.codeHash === undefined
        ? { version, useWorkerVersioning: false }
        : { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}
