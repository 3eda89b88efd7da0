import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { KeeperTask } from './keeper.ts';
import type { Binary } from './obtain.ts';
import { type ClaimedPort, claimPort } from './ports.ts';
import { compiledRoot } from './project-root.ts';
import type { Say } from './say.ts';
import { type Supervised, supervise } from './supervise.ts';

/** A Temporal server of our own: where it listens, and its process. */
export type OwnServer = {
  address: string;
  uiUrl: string;
  /** The program that runs. */
  binary: string;
  /** Every port it listens on. */
  ports: number[];
  /** Of the server itself (not of its keeper); changes when it is started again. */
  pid(): number | undefined;
  end(): Promise<void>;
  kill(): void;
};

export type ServerOptions = {
  binary: Binary;
  namespace: string;
  /** The database; without one the server forgets all when it ends. */
  databaseFile?: string;
  logFile: string;
  say: Say;
  /** Take free ports at once, without asking for the usual ones. */
  anyPorts?: boolean;
  onRestart?: () => void;
};

const HOST = '127.0.0.1';
const USUAL_PORT = 7233;
const USUAL_UI_PORT = 8233;
const READY_MS = 60_000;
const END_MS = 3_500;

/**
 * Limits of the dev server that would slow a single busy machine (temporal.md, fact 18 and spike 4): polling of
 * transfer, timer and visibility queues, requests a second, batch operations at once, queries that wait for a workflow
 * task, and the second that must pass before an id starts again or continues as new.
 */
const DYNAMIC_CONFIG: readonly string[] = [
  'history.transferProcessorMaxPollRPS=1000',
  'history.visibilityProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxTimeShift="10ms"',
  'history.maxBufferedQueryCount=50',
  'history.workflowIdReuseMinimalInterval="10ms"',
  'history.rps=30000',
  'matching.rps=12000',
  'frontend.rps=24000',
  'frontend.namespaceRPS=24000',
  'frontend.namespaceRPS.visibility=1000',
  'frontend.namespaceCount=10000',
  'frontend.MaxConcurrentBatchOperationPerNamespace=100',
];

/** Starts the server under its keeper and resolves when it listens. */
export async function startServer(options: ServerOptions): Promise<OwnServer> {
  const { binary, namespace, databaseFile, logFile, say } = options;
  const claimed: ClaimedPort[] = [];
  const claim = async (preferred?: number): Promise<number> => {
    const taken = await claimPort(HOST, options.anyPorts ? undefined : preferred);
    claimed.push(taken);
    return taken.port;
  };
  const port = await claim(USUAL_PORT);
  const uiPort = await claim(USUAL_UI_PORT);
  const httpPort = await claim();
  const metricsPort = await claim();
  const task: KeeperTask = {
    binary: binary.path,
    args: [
      ...['server', 'start-dev', '--ip', HOST, '--port', `${port}`, '--ui-port', `${uiPort}`],
      ...['--http-port', `${httpPort}`, '--metrics-port', `${metricsPort}`, '--namespace', namespace],
      ...['--log-level', 'warn', '--log-format', 'json', '--ui-disable-news-fetch'],
      ...(databaseFile === undefined ? [] : ['--db-filename', databaseFile]),
      ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
      ...DYNAMIC_CONFIG.flatMap((setting) => ['--dynamic-config-value', setting]),
    ],
    host: HOST,
    port,
    logFile,
  };
  let pid: number | undefined;
  const release = (): void => {
    for (const { release: giveBack } of claimed) giveBack();
  };
  let keeper: Supervised;
  try {
    keeper = await supervise({
      name: 'The Temporal server',
      say,
      readyWithinMs: READY_MS,
      fork: () =>
        fork(join(compiledRoot(), 'src/cli/start/keeper.js'), [JSON.stringify(task)], {
          detached: true,
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        }),
      onMessage: (message) => {
        if (typeof message === 'object' && message !== null && 'pid' in message) pid = Number(message.pid);
      },
      // A keeper that was killed leaves its server behind: the next one needs the ports and the database.
      onDeath: () => {
        killIfThere(pid);
        pid = undefined;
      },
      ...(options.onRestart === undefined ? {} : { onReadyAgain: options.onRestart }),
    });
  } catch (error) {
    killIfThere(pid);
    release();
    throw new Error(`${(error as Error).message} Its log: ${logFile}`, { cause: error });
  }
  return {
    address: `${HOST}:${port}`,
    uiUrl: `http://${HOST}:${uiPort}`,
    binary: binary.path,
    ports: [port, uiPort, httpPort, metricsPort],
    pid: () => pid,
    end: async () => {
      await keeper.end(END_MS);
      // A keeper that hangs is killed, and leaves it behind.
      killIfThere(pid);
      release();
    },
    kill: () => {
      keeper.kill();
      killIfThere(pid);
    },
  };
}

function killIfThere(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
