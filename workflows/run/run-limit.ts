/**
 * Settings of the worker that workflow code goes by: when a run continues as new (SIGNALBOX_HISTORY_LIMIT), how much data
 * a run may hold (SIGNALBOX_BLOBS), and whether failures are encoded.
 *
 * These decide which commands a workflow gives, so a replay must see the settings that were in force, not those of the
 * worker that replays: else changing one would break every run in flight. The one text of a worker that Temporal writes
 * into each WorkflowTaskCompleted, and hands back for that task on replay, is its build id. So the worker's build id
 * carries them (src/contract/build-id.ts), and nothing else has to be recorded. Measured: five tasks of one run by
 * workers of four limits replay with the limit of each task, also in queries of the closed run and in
 * Worker.runReplayHistory.
 */
import { buildIdOf, type WorkerStamp } from '../../src/contract/build-id.ts';

/** With activities always in flight, nothing new begins at so many times the limit. */
export const PATIENCE = 10;
/** But never later than here: the server ends a run at 51,200 events. */
export const MOST_EVENTS = 40_000;
/** The same for bytes: the server ends a run at 50 MB. */
export const MOST_BYTES = 25_000_000;

/**
 * How long one activation may compute, in milliseconds. At its end the SDK stops the script, and Node then ends the whole
 * process ("async hook stack has become corrupted"). The core gives way long before (engine/limits.ts); but on a machine
 * with seven times too much to do the SDK's five seconds were reached.
 */
const ACTIVATION_MS = 30_000;

const DEPLOYMENT = 'signalbox';

/** For Worker.create: what the interpreter needs of its worker. The SDK reads `isolateExecutionTimeout`, although its types do not name it. */
export function interpreterOptions(stamp: WorkerStamp): {
  workerDeploymentOptions: {
    version: { deploymentName: string; buildId: string };
    useWorkerVersioning: false;
  };
  isolateExecutionTimeout: number;
} {
  return {
    workerDeploymentOptions: {
      version: { deploymentName: DEPLOYMENT, buildId: buildIdOf(stamp) },
      useWorkerVersioning: false,
    },
    isolateExecutionTimeout: ACTIVATION_MS,
  };
}
