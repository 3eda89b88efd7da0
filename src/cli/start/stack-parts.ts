import { join } from 'node:path';
import { tryLock } from '#lock';
import type { Config } from '../../config/config.ts';
import { DATABASE_FILE, demandUnused } from './database-processes.ts';
import { obtainTemporal } from './obtain-temporal.ts';
import { readPorts, savePorts } from './port-file.ts';
import { PortTakenError } from './ports.ts';
import { say } from './say.ts';
import { SHUTDOWN_RANK, type Shutdown } from './shutdown.ts';
import type { Supervised } from './supervise.ts';
import { type OwnServer, startServer } from './temporal-server.ts';
import { startWorkerProcess, type WorkerProcessOptions } from './worker-process.ts';

const WORKER_END_MS = 10_000;

/** Another stack runs on this data folder. */
export class AlreadyRunningError extends Error {
  readonly code = 'already_running';
  readonly exitCode = 1;
  constructor(dataDir: string, pid: number, host: string) {
    super(
      `A stack runs on ${dataDir} already (process ${pid} on ${host}). Stop it, or use another folder and ` +
        'port: SIGNALBOX_DATA=… SIGNALBOX_PORT=… npm start',
    );
    this.name = 'AlreadyRunningError';
  }
}

/** Locks the data folder until the process ends. */
export function lockDataFolder(dataDir: string, shutdown: Shutdown): void {
  const { release, holder } = tryLock(join(dataDir, 'start.lock'));
  if (!release) throw new AlreadyRunningError(dataDir, holder.pid, holder.host);
  shutdown.add(SHUTDOWN_RANK.locks, async () => release());
}

/** Finds a Temporal CLI and starts its server on the data folder. @throws DatabaseInUseError */
export async function startOwnServer(
  config: Config,
  env: NodeJS.ProcessEnv,
  shutdown: Shutdown,
  onSpawn: (server: OwnServer) => void,
): Promise<OwnServer> {
  const databaseFile = join(config.dataDir, DATABASE_FILE);
  demandUnused(databaseFile);
  const binary = await obtainTemporal({ env, signal: shutdown.signal });
  say(`Temporal ${binary.version}, from ${binary.source}.`);
  const server = await startServer({
    binary,
    namespace: config.temporal.namespace,
    databaseFile,
    logFile: join(config.dataDir, 'logs', 'temporal.log'),
    say,
    onSpawn,
    settings: config.ownTemporal,
    previousPorts: readPorts(config.dataDir),
  });
  const { address, ui } = server;
  try {
    savePorts(config.dataDir, {
      temporal: portOf(`http://${address}`),
      ...(ui === undefined ? {} : { ui: ui.port }),
    });
  } catch (error) {
    say(`The ports cannot be saved for the next start: ${(error as Error).message}`);
  }
  shutdown.add(
    SHUTDOWN_RANK.server,
    () => server.end(),
    () => server.kill(),
  );
  return server;
}

/** Serves the Web UI of the stack's server. @throws PortTakenError */
export async function startOwnUi(
  { ui }: OwnServer,
  config: Config,
  needsKeys: () => Promise<boolean>,
  shutdown: Shutdown,
): Promise<void> {
  if (ui === undefined) return;
  const isClosed = config.ownTemporal.ui === 'always' ? async () => false : needsKeys;
  // It loads the gateway, as late as startGatewayInProcess does.
  const { serveUi } = await import('./ui-proxy.ts');
  try {
    const { close } = await serveUi({ ...ui, origins: config.uiOrigins, isClosed });
    shutdown.add(SHUTDOWN_RANK.services, close);
  } catch {
    throw new PortTakenError('SIGNALBOX_UI_PORT', ui.port);
  }
}

const portOf = (url: string): number => Number(new URL(url).port);

/** Starts the worker as a child process. */
export async function startOwnWorker(
  config: Config,
  env: NodeJS.ProcessEnv,
  shutdown: Shutdown,
  options: Pick<
    WorkerProcessOptions,
    'logToStdout' | 'isUnversioned' | 'onRestart' | 'onDeath' | 'onMessage' | 'onEnd'
  >,
): Promise<Supervised> {
  const worker = await startWorkerProcess({ config, env, say, ...options });
  shutdown.add(
    SHUTDOWN_RANK.services,
    () => worker.end(WORKER_END_MS),
    () => worker.kill(),
  );
  return worker;
}
