import { setTimeout } from 'node:timers/promises';
import { runningStack } from '#stacks';
import { blobFindings } from '../../client/doctor/blobs.ts';
import { examineServer } from '../../client/doctor/examine.ts';
import type { Finding } from '../../client/doctor/finding.ts';
import { ClientError } from '../../client/errors.ts';
import { bootstrap } from '../../client/temporal/bootstrap.ts';
import { ConnectError, connect, type TemporalConnection } from '../../client/temporal/connect.ts';
import { isEagerAnswer, type SendEagerly } from '../../client/temporal/eager-starts.ts';
import { backfillDivision, supportsDivision } from '../../client/temporal/namespace-division.ts';
import { identityOf } from '../../client/temporal/worker-liveness.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { loadMasterKey } from '../../config/master-key.ts';
import { NAMESPACE_DIVISION_ATTRIBUTE } from '../../contract/namespace-division.ts';
import { workerDeaths } from '../../observe/metrics.ts';
import { doctorLines } from '../doctor-lines.ts';
import { makeDataFolder } from './data-folder.ts';
import { installExampleWorkflows } from './install-examples.ts';
import { claimPort } from './ports.ts';
import { say } from './say.ts';
import { listenForShutdown, SHUTDOWN_RANK, type Shutdown } from './shutdown.ts';
import { endLeftovers, writeStackFile } from './stack-file.ts';
import { lockDataFolder, startOwnServer, startOwnUi, startOwnWorker } from './stack-parts.ts';
import { type RunningGateway, startGatewayInProcess } from './start-gateway.ts';
import type { Supervised } from './supervise.ts';
import type { OwnServer } from './temporal-server.ts';
import { printWelcome } from './welcome.ts';
import { EagerStarts } from './worker-eager-starts.ts';

/** How long a stack waits for its own server, which listens already but may have to start again. */
const OWN_SERVER_MS = 30_000;
const OWN_SERVER_PAUSE_MS = 250;
const UNREACHABLE_CODE = 'temporal_unreachable';

/** The options of `signalbox start`. */
type StartOptions = {
  /** Starts only this part, with the Temporal server of TEMPORAL_ADDRESS or of the stack on the data folder. */
  only?: 'gateway' | 'worker';
  env?: NodeJS.ProcessEnv;
};

/** A single part needs the address of Temporal. */
class NoAddressError extends Error {
  readonly code = 'no_address';
  readonly exitCode = 20;
  constructor(only: string, dataDir: string) {
    super(
      `start --only ${only} needs a Temporal server. Set TEMPORAL_ADDRESS, or first start a whole stack on ` +
        `${dataDir} (npm start).`,
    );
    this.name = 'NoAddressError';
  }
}

/** The worker of `start --only worker` has ended. The container or service manager restarts it; its log shows why. */
class WorkerEndedError extends Error {
  readonly code = 'worker_ended';
  readonly exitCode = 1;
  constructor(reason: string) {
    super(`${reason} The process ends with it, so that its supervisor starts it again.`);
    this.name = 'WorkerEndedError';
  }
}

/**
 * `signalbox start`: starts a Temporal server (unless TEMPORAL_ADDRESS is set), bootstraps it, starts gateway and
 * worker, and waits for the signal to end. Resolves to the exit code when all parts have ended.
 * @throws ConfigError, DataFolderError, PortTakenError, AlreadyRunningError, DatabaseInUseError, NoAddressError,
 * NoTemporalError, ConnectError, BootstrapError
 */
export async function start(options: StartOptions = {}): Promise<number> {
  const env = options.env ?? process.env;
  const config = readConfig(env);
  const shutdown = listenForShutdown(say);
  try {
    if (options.only === undefined) await startStack(config, env, shutdown);
    else {
      const { ended } = await startPart(config, env, options.only, shutdown);
      if (ended !== undefined) await Promise.race([shutdown.requested, ended]);
    }
    await shutdown.requested;
    return 0;
  } catch (error) {
    if (shutdown.signal.aborted) return 0;
    throw error;
  } finally {
    await shutdown.endAll();
    if (shutdown.signal.aborted) say('Stopped.');
  }
}

async function startStack(given: Config, env: NodeJS.ProcessEnv, shutdown: Shutdown): Promise<void> {
  const begun = Date.now();
  makeDataFolder(given.dataDir);
  lockDataFolder(given.dataDir, shutdown);
  await endLeftovers(given.dataDir);
  const note = writeStackFile(given, env);
  shutdown.add(SHUTDOWN_RANK.locks, async () => note.remove());
  let server: OwnServer | undefined;
  let config = given;
  if (given.temporal.address === undefined) {
    server = await startOwnServer(given, env, shutdown, note.setServer);
    config = withAddress(given, server.address);
    shutdown.signal.throwIfAborted();
  }
  const eager = new EagerStarts();
  // A new run of a versioned deployment begins with the current version, which this worker may not be.
  const isVersioned = server === undefined && given.workerVersioning !== 'off';
  const sendEagerly = given.sdkPatches && !isVersioned ? eager.send : undefined;
  const temporal =
    server === undefined
      ? await connectAndBootstrap(config, shutdown, false, sendEagerly)
      : await connectOwnServer(config, shutdown, sendEagerly);
  const deadWorkers = new Set<string>();
  const gateway = await startGatewayOnPort(config, temporal, shutdown, server, deadWorkers);
  const { config: complete, gatewayUrl, needsKeys, warnings } = gateway;
  note.setGateway(gatewayUrl);
  if (server !== undefined) await startOwnUi(server, complete, gateway.callersNeedKeys, shutdown);
  // Callback URLs of the worker need the gateway's actual address.
  const forWorker = { ...complete, publicUrl: complete.publicUrl ?? gatewayUrl };
  const worker: Supervised = await startOwnWorker(forWorker, env, shutdown, {
    isUnversioned: server !== undefined,
    onRestart: () => {
      note.setWorker(worker);
      eager.workerReady(worker.send);
      // The new process may have the id of a dead one.
      deadWorkers.delete(identityOf(worker.pid() ?? 0));
    },
    onDeath: (pid) => {
      eager.workerGone();
      workerDeaths.inc();
      deadWorkers.add(identityOf(pid ?? 0));
    },
    onMessage: (message) => {
      if (isEagerAnswer(message)) eager.answered(message);
    },
  });
  eager.workerReady(worker.send);
  note.setWorker(worker);
  shutdown.signal.throwIfAborted();
  const seconds = (Date.now() - begun) / 1000;
  printWelcome(say, { config: complete, gatewayUrl, uiUrl: server?.ui?.url, needsKeys, seconds });
  for (const warning of warnings) say(`Warning: ${warning}`);
  // The start does not wait for the examples, but shutdown does: the client throws if the connection closes during a
  // call.
  const findingsPrinted =
    server === undefined ? printFindings(shutdown, () => examineServer(complete, temporal)) : Promise.resolve();
  void printFindings(shutdown, () => blobFindings(complete));
  const examplesInstalled = installExampleWorkflows(complete, temporal, say, shutdown.signal);
  shutdown.add(SHUTDOWN_RANK.services, () => Promise.all([examplesInstalled, findingsPrinted]).then(() => undefined));
  await Promise.race([examplesInstalled, shutdown.requested]);
}

async function startPart(
  given: Config,
  env: NodeJS.ProcessEnv,
  only: 'gateway' | 'worker',
  shutdown: Shutdown,
): Promise<{ ended?: Promise<never> }> {
  let config = given;
  if (given.temporal.address === undefined) {
    const stack = runningStack(given.dataDir);
    if (!stack) throw new NoAddressError(only, given.dataDir);
    config = withAddress(given, stack.temporal.address);
  }
  makeDataFolder(given.dataDir);
  const temporal = await connectAndBootstrap(config, shutdown, false);
  const findingsPrinted = printFindings(shutdown, () => examineServer(config, temporal));
  void printFindings(shutdown, () => blobFindings(config));
  shutdown.add(SHUTDOWN_RANK.services, () => findingsPrinted);
  if (only === 'gateway') {
    const { gatewayUrl, needsKeys, warnings } = await startGatewayOnPort(
      config,
      temporal,
      shutdown,
      undefined,
      undefined,
    );
    const access = needsKeys ? 'with an API key' : 'from this machine only, since there are no API keys';
    say(`The gateway listens at ${gatewayUrl}. It is accessible ${access}.`);
    for (const warning of warnings) say(`Warning: ${warning}`);
    return {};
  }
  let fail = (_error: Error): void => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  ended.catch(() => undefined);
  const onEnd = (reason: string): void => fail(new WorkerEndedError(reason));
  await startOwnWorker(config, env, shutdown, { logToStdout: true, onEnd });
  say(`The worker polls task queue ${config.taskQueue} at ${config.temporal.address}.`);
  return { ended };
}

/**
 * Says what `signalbox doctor` warns of, without holding up the start. Whether a worker is alive is left out: it may
 * start later.
 */
async function printFindings(shutdown: Shutdown, check: () => Promise<Finding[]>): Promise<void> {
  try {
    for (const finding of await check()) {
      if (shutdown.signal.aborted) return;
      if (finding.check === 'worker' || (finding.level !== 'warning' && finding.level !== 'blocks')) continue;
      for (const line of doctorLines(finding)) say(line);
    }
  } catch (error) {
    if (!shutdown.signal.aborted) say(`The check of this host could not be done: ${(error as Error).message}`);
  }
}

const withAddress = (config: Config, address: string): Config => ({
  ...config,
  temporal: { ...config.temporal, address },
});

/** As `connectAndBootstrap`. A server that ends just after its start, and restarts, is waited for. */
async function connectOwnServer(
  config: Config,
  shutdown: Shutdown,
  sendEagerly: SendEagerly | undefined,
): Promise<TemporalConnection> {
  const deadline = Date.now() + OWN_SERVER_MS;
  for (;;) {
    try {
      return await connectAndBootstrap(config, shutdown, true, sendEagerly);
    } catch (error) {
      shutdown.signal.throwIfAborted();
      const isUnreachable =
        error instanceof ConnectError || (error instanceof ClientError && error.code === UNREACHABLE_CODE);
      if (!isUnreachable || Date.now() > deadline) throw error;
    }
    await setTimeout(OWN_SERVER_PAUSE_MS);
  }
}

/** Connects, sets up the namespace, and creates the master key if it is missing. */
async function connectAndBootstrap(
  config: Config,
  shutdown: Shutdown,
  isOwnServer: boolean,
  sendEagerly?: SendEagerly,
): Promise<TemporalConnection> {
  const temporal = await connect(config, [], sendEagerly);
  shutdown.add(SHUTDOWN_RANK.connection, () => temporal.close());
  const isNew = await bootstrap(temporal, { retentionDays: config.retentionDays, ownServer: isOwnServer });
  if (isNew && !isOwnServer)
    say(
      `Warning: namespace ${config.temporal.namespace} did not exist at ${config.temporal.address} and was made, so ` +
        'this installation is new and empty. If it should not be, compare TEMPORAL_NAMESPACE with the one before.',
    );
  await hideActorsFromLists(config, temporal);
  loadMasterKey(config);
  shutdown.signal.throwIfAborted();
  return temporal;
}

/** Hides actors from the run lists of Temporal's Web UI and CLI, and warns if the server does not support it. */
async function hideActorsFromLists(config: Config, temporal: TemporalConnection): Promise<void> {
  if (!(await supportsDivision(temporal))) {
    say(
      `This Temporal server does not support the search attribute ${NAMESPACE_DIVISION_ATTRIBUTE}, so its lists show ` +
        'definitions, ' +
        'triggers and other actors among the runs. Add WorkflowType = "run" to each query, especially for batches.',
    );
    return;
  }
  try {
    const count = await backfillDivision(temporal, config.taskQueue);
    if (count > 0) say(`Hiding ${count} actors of an earlier version from the lists of runs.`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(`Actors of an earlier version stay in the lists of runs until the next start: ${why}`);
  }
}

/** Starts the gateway. The returned config has its port, to which the worker must refuse requests. */
async function startGatewayOnPort(
  config: Config,
  temporal: TemporalConnection,
  shutdown: Shutdown,
  server: OwnServer | undefined,
  /** Undefined: the gateway runs alone. */
  stackWorkers: ReadonlySet<string> | undefined,
): Promise<{ config: Config; gatewayUrl: string } & Omit<RunningGateway, 'url' | 'close'>> {
  const claimed = config.port === 0 ? await claimPort(config.host) : undefined;
  if (claimed) shutdown.add(SHUTDOWN_RANK.locks, async () => claimed.release());
  const port = claimed?.port ?? config.port;
  const complete = { ...config, port, ownPorts: [port, ...(server?.ports ?? []), ...config.ownPorts] };
  const gateway = await startGatewayInProcess(complete, temporal, {
    uiUrl: server?.ui?.url,
    deadWorkers: stackWorkers ?? new Set(),
    isAlone: stackWorkers === undefined,
  });
  shutdown.add(SHUTDOWN_RANK.services, () => gateway.close());
  shutdown.signal.throwIfAborted();
  const { url: gatewayUrl, needsKeys, callersNeedKeys, warnings } = gateway;
  return { config: complete, gatewayUrl, needsKeys, callersNeedKeys, warnings };
}
