import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { compiledRoot } from './project-root.ts';
import type { Say } from './say.ts';
import { type Supervised, supervise } from './supervise.ts';

const READY_MS = 60_000;

export type WorkerProcessOptions = {
  /** With the address of Temporal, and the ports and URL of this stack. */
  config: Config;
  env: NodeJS.ProcessEnv;
  say: Say;
  logToStdout?: boolean;
  /** Whatever the settings say, the worker is no version of a deployment. */
  isUnversioned?: boolean;
  onRestart?: () => void;
  onDeath?: (pid: number | undefined) => void;
  /** A message that is not about its state. */
  onMessage?: (message: unknown) => void;
  /** The worker is not restarted: called with the reason when it has ended. */
  onEnd?: (reason: string) => void;
};

/** Starts workers/main.js as a supervised child, and resolves when it polls. */
export function startWorkerProcess(options: WorkerProcessOptions): Promise<Supervised> {
  const { config, env, say } = options;
  const childEnv: NodeJS.ProcessEnv = {
    ...env,
    SIGNALBOX_DATA: config.dataDir,
    SIGNALBOX_OWN_PORTS: config.ownPorts.join(','),
    TEMPORAL_NAMESPACE: config.temporal.namespace,
    ...omitUndefined({ TEMPORAL_ADDRESS: config.temporal.address, SIGNALBOX_PUBLIC_URL: config.publicUrl }),
    ...(options.isUnversioned ? { SIGNALBOX_WORKER_VERSIONING: '0' } : {}),
    ...(options.logToStdout ? { SIGNALBOX_LOG_TO_STDOUT: '1' } : {}),
  };
  return supervise({
    name: 'The worker',
    say,
    readyWithinMs: READY_MS,
    fork: () =>
      fork(join(compiledRoot(), 'workers/main.js'), [], {
        env: childEnv,
        // A task leaves much garbage: with more room for it, the worker takes a tenth less processor time.
        execArgv: [...process.execArgv, '--max-semi-space-size=32'],
        // Ctrl-C in a terminal reaches only `start`, which ends the worker before the server.
        detached: true,
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        // Messages contain bytes.
        serialization: 'advanced',
      }),
    ...omitUndefined({
      onReadyAgain: options.onRestart,
      onDeath: options.onDeath,
      onMessage: options.onMessage,
      onEnd: options.onEnd,
    }),
  });
}
