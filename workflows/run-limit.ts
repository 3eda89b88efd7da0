/**
 * When a run continues as new: SIGNALBOX_HISTORY_LIMIT on its way into the sandbox.
 *
 * The limit decides which commands a workflow gives, so a replay must see the limit that was in force, not that of the
 * worker that replays: else changing the setting would break every run in flight. The one number of a worker that
 * Temporal writes into each WorkflowTaskCompleted, and hands back for that task on replay, is its build id. So the
 * worker's build id carries the limit, and nothing else has to be recorded. Measured: five tasks of one run by workers
 * of four limits replay with the limit of each task, also in queries of the closed run and in Worker.runReplayHistory.
 */

/** Where no worker said: as SIGNALBOX_HISTORY_LIMIT's default. */
const DEFAULT_HISTORY_LIMIT = 1_000;
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
const BUILD_ID = /^history-(\d{1,9})(-encoded)?$/;

/**
 * For Worker.create: what the interpreter needs of its worker. The limit is in events; `encodes`: failures are encoded,
 * since there is a payload codec. The SDK reads `isolateExecutionTimeout`, although its types do not name it.
 */
export function interpreterOptions(
  historyLimit: number,
  encodes = false,
): {
  workerDeploymentOptions: {
    version: { deploymentName: string; buildId: string };
    useWorkerVersioning: false;
  };
  isolateExecutionTimeout: number;
} {
  return {
    workerDeploymentOptions: {
      version: { deploymentName: DEPLOYMENT, buildId: `history-${historyLimit}${encodes ? '-encoded' : ''}` },
      useWorkerVersioning: false,
    },
    isolateExecutionTimeout: ACTIVATION_MS,
  };
}

/** The limit that the worker of a task had, by its build id. */
export function limitOf(buildId: string | undefined): number {
  const digits = BUILD_ID.exec(buildId ?? '')?.[1];
  return digits === undefined ? DEFAULT_HISTORY_LIMIT : Math.max(1, Number(digits));
}

/** Whether the worker of a task has a payload codec, by its build id. */
export const encodesFailures = (buildId: string | undefined): boolean =>
  BUILD_ID.exec(buildId ?? '')?.[2] !== undefined;
