import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Config } from '../../config/config.ts';
import { databaseProcesses } from './database-processes.ts';
import type { TemporalBinary } from './obtain-temporal.ts';
import type { SavedPorts } from './port-file.ts';
import { type ClaimedPort, claimNamedPort, claimOneOf, claimPort, PORTS_CLOSED_TO_BROWSERS } from './ports.ts';
import { compiledRoot, projectRoot } from './project-root.ts';
import type { Say } from './say.ts';
import type { KeeperTask } from './server-keeper.ts';
import { type Supervised, supervise } from './supervise.ts';

/** The Temporal server of this stack: its addresses and its process. */
export type OwnServer = {
  address: string;
  /** Undefined without a Web UI. `port` is for the proxy in front of its server, which listens on `serverPort`. */
  ui: { url: string; host: string; port: number; serverPort: number } | undefined;
  /** The path of its program. */
  binary: string;
  /** All ports that it listens on. */
  ports: number[];
  /** The process id of the server, not of its keeper; it changes at a restart. */
  pid(): number | undefined;
  end(): Promise<void>;
  kill(): void;
};

type ServerOptions = {
  binary: TemporalBinary;
  namespace: string;
  /** The database file; without it data is kept in memory only. */
  databaseFile?: string;
  logFile: string;
  say: Say;
  /** Uses any free ports, not the default ones. */
  anyPorts?: boolean;
  /** Its settings. */
  settings?: Config['ownTemporal'];
  /** The ports of the previous start. */
  previousPorts?: SavedPorts;
  /** Called at each start of its process, before it listens. */
  onSpawn?: (server: OwnServer) => void;
};

const HOST = '127.0.0.1';
const DEFAULT_PORT = 7233;
const DEFAULT_UI_PORT = 8233;
/**
 * The HTTP API requires no key and takes requests of every web page, and nothing here calls it, not even the Web UI. So
 * it answers to a name only that nobody has.
 */
const NO_HTTP_API = 'frontend.httpAllowedHosts=["nobody.invalid"]';
/**
 * Tasks of a queue are taken in the order they came only within one partition. One is enough for one server. The
 * default number of partitions is still read, since an earlier start may have left tasks in any of them.
 */
const ONE_PARTITION = 'matching.numTaskqueueWritePartitions=1';
const READY_MS = 60_000;
const END_MS = 3_500;

/**
 * The dynamic configuration of deploy/temporal/dynamic-config.yaml as `key=JSON` pairs. It raises limits that slow down
 * a single busy machine (TEMPORAL.md §8).
 */
function dynamicConfig(): string[] {
  const text = readFileSync(join(projectRoot(), 'deploy', 'temporal', 'dynamic-config.yaml'), 'utf8');
  const settings = parse(text) as { readonly [key: string]: readonly { readonly value: unknown }[] };
  return Object.entries(settings).flatMap(([key, values]) =>
    values.map(({ value }) => `${key}=${JSON.stringify(value)}`),
  );
}

/** Starts the server with its keeper, and resolves when it listens. */
export async function startServer(options: ServerOptions): Promise<OwnServer> {
  const { binary, namespace, databaseFile, logFile, say } = options;
  const claimed: ClaimedPort[] = [];
  const { settings = { ui: 'never' }, previousPorts = {} } = options;
  const claim = async (...preferred: (number | undefined)[]): Promise<number> => {
    const known = options.anyPorts ? [] : preferred.filter((one) => one !== undefined);
    const taken = await claimPort(HOST, ...known);
    claimed.push(taken);
    return taken.port;
  };
  const claimNamed = async (named: number, setting: string): Promise<number> => {
    const taken = await claimNamedPort(HOST, named, setting);
    claimed.push(taken);
    return taken.port;
  };
  const release = (): void => {
    for (const { release: giveBack } of claimed) giveBack();
  };
  const claimUi = async () => {
    if (settings.ui === 'never') return undefined;
    const server = await claimOneOf(HOST, PORTS_CLOSED_TO_BROWSERS);
    if (server === undefined) {
      say('Temporal has no Web UI here: none of the ports that browsers may not reach is free for its server.');
      return undefined;
    }
    claimed.push(server);
    const uiPort =
      settings.uiPort === undefined
        ? await claim(previousPorts.ui, DEFAULT_UI_PORT)
        : await claimNamed(settings.uiPort, 'SIGNALBOX_UI_PORT');
    return { url: `http://${HOST}:${uiPort}`, host: HOST, port: uiPort, serverPort: server.port };
  };
  const claimAll = async () => ({
    port:
      settings.port === undefined
        ? await claim(previousPorts.temporal, DEFAULT_PORT)
        : await claimNamed(settings.port, 'SIGNALBOX_TEMPORAL_PORT'),
    ui: await claimUi(),
    httpPort: await claim(),
    metricsPort: await claim(),
  });
  const { port, ui, httpPort, metricsPort } = await claimAll().catch((error: unknown) => {
    release();
    throw error;
  });
  const task: KeeperTask = {
    binary: binary.path,
    args: [
      ...['server', 'start-dev', '--ip', HOST, '--port', `${port}`],
      ...(ui === undefined ? ['--headless'] : ['--ui-port', `${ui.serverPort}`, '--ui-disable-news-fetch']),
      ...['--http-port', `${httpPort}`, '--metrics-port', `${metricsPort}`, '--namespace', namespace],
      ...['--log-level', 'warn', '--log-format', 'json'],
      ...(databaseFile === undefined ? [] : ['--db-filename', databaseFile]),
      ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
      ...[...dynamicConfig(), ONE_PARTITION, NO_HTTP_API].flatMap((setting) => ['--dynamic-config-value', setting]),
    ],
    host: HOST,
    port,
    logFile,
  };
  let pid: number | undefined;
  let keeper: Supervised | undefined;
  /** Also a server whose keeper was killed before it reported its process id. */
  const killServer = (): void => {
    const users = databaseFile === undefined ? [] : databaseProcesses(databaseFile).filter(({ isOurs }) => isOurs);
    for (const one of new Set([pid, ...users.map((user) => user.pid)])) killIfThere(one);
    pid = undefined;
  };
  const own: OwnServer = {
    address: `${HOST}:${port}`,
    ui,
    binary: binary.path,
    ports: [port, ...(ui === undefined ? [] : [ui.port, ui.serverPort]), httpPort, metricsPort],
    pid: () => pid,
    end: async () => {
      await keeper?.end(END_MS);
      // A keeper that hangs was killed without its server.
      killServer();
      release();
    },
    kill: () => {
      keeper?.kill();
      killServer();
    },
  };
  try {
    keeper = await supervise({
      name: 'The Temporal server',
      say,
      readyWithinMs: READY_MS,
      fork: () =>
        fork(join(compiledRoot(), 'src/cli/start/server-keeper.js'), [JSON.stringify(task)], {
          detached: true,
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        }),
      onMessage: (message) => {
        if (typeof message !== 'object' || message === null || !('pid' in message)) return;
        pid = Number(message.pid);
        options.onSpawn?.(own);
      },
      // A killed keeper leaves its server running, and the next one needs the ports and the database.
      onDeath: killServer,
    });
  } catch (error) {
    killServer();
    release();
    throw new Error(`${(error as Error).message} See its log: ${logFile}`, { cause: error });
  }
  return own;
}

function killIfThere(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
