/**
 * Looks at a Temporal server as gateway and workers will use it. Nothing that belongs to runs is read or changed, and
 * nothing is set: each finding has the lines to set.
 */
import { Connection } from '@temporalio/client';
import type { Config } from '../../config/config.ts';
import { deploymentOf } from '../../contract/build-id.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ConnectError, connect, connectionOptions, type TemporalConnection } from '../temporal/connect.ts';
import { GRPC } from '../temporal/grpc.ts';
import { grpcOf } from '../temporal/rpc.ts';
import { currentVersion } from '../temporal/worker-deployment.ts';
import { hasWorker } from '../temporal/worker-liveness.ts';
import { attributesFinding } from './attributes.ts';
import { certificateFindings } from './certificates.ts';
import type { AddFinding, Check, Finding } from './finding.ts';
import { countRefusedCounts, LIST_CONCURRENCY, measureTimers } from './measures.ts';

const SECONDS_A_DAY = 86_400;
/** Timers later than this make short sleeps and retries slow. */
const SLOW_TIMER_MS = 300;
const MAX_SKEW_MS = 2_000;
const MIN_SERVER_VERSION: readonly [number, number] = [1, 28];
const ADD_CONFIG_HINT = 'Add to the dynamic configuration (deploy/temporal/dynamic-config.yaml has all of it):';

/** The server's version, and its store of lists: `sqlite`, `postgres12`, `elasticsearch`, … */
interface Server {
  readonly version?: string;
  readonly visibility?: string;
}

/** All findings, in the order of `CHECKS`. */
export async function examine(config: Config): Promise<Finding[]> {
  let temporal: TemporalConnection;
  try {
    temporal = await connect(config);
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const lines = error.fault === undefined ? ['TEMPORAL_ADDRESS=host:7233'] : undefined;
    return [{ check: 'connection', level: 'blocks', text: error.message, ...omitUndefined({ lines }) }];
  }
  try {
    return await examineServer(config, temporal);
  } finally {
    await temporal.close();
  }
}

/** As `examine`, over an open connection. */
export async function examineServer(config: Config, temporal: TemporalConnection): Promise<Finding[]> {
  const { connection, namespace } = temporal;
  const { address } = connectionOptions(config);
  const findings: Finding[] = [];
  const add: AddFinding = (check, level, text, lines) =>
    findings.push({ check, level, text, ...omitUndefined({ lines }) });
  add('connection', 'ok', `Temporal answers at ${address}.`);
  findings.push(...(await certificateFindings(config)));
  const server = await runCheck(add, 'server', () => examineVersion(add, connection));
  const namespaceExists = await runCheck(add, 'namespace', () => examineNamespace(add, connection, config));
  // Everything else is about what the namespace holds.
  if (namespaceExists !== true) return findings;
  await runCheck(add, 'search attributes', async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const isSql = server?.visibility !== 'elasticsearch' && server?.visibility !== 'opensearch';
    findings.push(attributesFinding(customAttributes ?? {}, isSql, namespace));
  });
  await runCheck(add, 'timers', () => examineTimers(add, temporal));
  await runCheck(add, 'lists', () => examineLists(add, config));
  await runCheck(add, 'worker', () => examineWorker(add, config, temporal));
  await runCheck(add, 'versions', () => examineVersions(add, config, temporal));
  return findings;
}

/** What may not be looked at, or not now, is a warning; what fails otherwise blocks. */
async function runCheck<T>(add: AddFinding, check: Check, examination: () => Promise<T>): Promise<T | undefined> {
  try {
    return await examination();
  } catch (error) {
    const grpc = grpcOf(error);
    if (grpc === undefined) throw error;
    const isRefused = grpc.code === GRPC.PERMISSION_DENIED || grpc.code === GRPC.UNIMPLEMENTED;
    const why = isRefused ? 'These credentials may not look at it' : 'The server answered';
    const isTransient = isRefused || grpc.code === GRPC.RESOURCE_EXHAUSTED;
    add(check, isTransient ? 'warning' : 'blocks', `${why}: ${grpc.details}`);
    return undefined;
  }
}

async function examineVersion(add: AddFinding, connection: Connection): Promise<Server> {
  const { serverVersion, persistenceStore, visibilityStore, historyShardCount } =
    await connection.workflowService.getClusterInfo({});
  const [major = 0, minor = 0] = (serverVersion ?? '').split('.').map(Number);
  const isOld = major < MIN_SERVER_VERSION[0] || (major === MIN_SERVER_VERSION[0] && minor < MIN_SERVER_VERSION[1]);
  const stores = `data in ${persistenceStore}, lists in ${visibilityStore}, ${historyShardCount} history shards`;
  const text = `Temporal ${serverVersion}, ${stores}.`;
  if (isOld) add('server', 'blocks', `${text} Version ${MIN_SERVER_VERSION.join('.')} or newer is needed.`);
  else add('server', 'ok', text);
  if (persistenceStore !== 'sqlite' && Number(historyShardCount) < 4)
    add(
      'server',
      'warning',
      'The number of history shards limits throughput, and can never be changed for a cluster.',
      ['persistence.numHistoryShards: 512   # of a new cluster'],
    );
  return { version: serverVersion ?? '', visibility: visibilityStore ?? '' };
}

/** Whether it exists. */
async function examineNamespace(
  add: AddFinding,
  connection: Connection,
  { temporal: { namespace }, retentionDays }: Config,
): Promise<boolean> {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    const days = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / SECONDS_A_DAY;
    add('namespace', 'ok', `Namespace ${namespace} exists.`);
    const retentionText = `Closed runs are kept for ${days} days`;
    if (days >= retentionDays) add('retention', 'ok', `${retentionText}.`);
    else
      add('retention', 'warning', `${retentionText}, and SIGNALBOX_RETENTION_DAYS is ${retentionDays}.`, [
        `temporal operator namespace update --namespace ${namespace} --retention ${retentionDays}d`,
      ]);
    return true;
  } catch (error) {
    if (grpcOf(error)?.code !== GRPC.NOT_FOUND) throw error;
    const missing = `Namespace ${namespace} does not exist.`;
    add('namespace', 'note', `${missing} Starting a gateway or a worker creates it, if it is allowed to.`, [
      `temporal operator namespace create --namespace ${namespace} --retention ${retentionDays}d`,
    ]);
    return false;
  }
}

async function examineTimers(add: AddFinding, { client }: TemporalConnection): Promise<void> {
  const measured = await measureTimers(client);
  const lines = ['history.timerProcessorMaxTimeShift:', '  - value: 10ms'];
  if (measured === undefined) return add('timers', 'blocks', 'A timer of 10 ms did not fire within 8 s.', lines);
  const { lateMs, skewMs } = measured;
  const latencyText = `A timer of 10 ms is ${Math.max(0, Math.round(lateMs))} ms late`;
  if (lateMs > SLOW_TIMER_MS) add('timers', 'warning', `${latencyText}. ${ADD_CONFIG_HINT}`, lines);
  else add('timers', 'ok', `${latencyText}.`);
  const skew = `${Math.round(skewMs)} ms`;
  const skewText = `The server's clock differs by ${skew} from this machine's. Synchronize both (NTP).`;
  if (Math.abs(skewMs) > MAX_SKEW_MS) add('clock', 'warning', skewText);
  else add('clock', 'ok', "The server's clock agrees with this machine's.");
}

async function examineLists(add: AddFinding, config: Config): Promise<void> {
  const connection = await Connection.connect({ ...connectionOptions(config), interceptors: [] });
  try {
    const refused = await countRefusedCounts(connection, config.temporal.namespace);
    const lists = `${LIST_CONCURRENCY} lists at the same time are`;
    if (refused === 0) add('lists', 'ok', `${lists} answered.`);
    else
      add('lists', 'warning', `${refused} of ${lists} refused. ${ADD_CONFIG_HINT}`, [
        'frontend.namespaceRPS.visibility:',
        '  - value: 1000',
      ]);
  } finally {
    await connection.close();
  }
}

async function examineWorker(
  add: AddFinding,
  { taskQueue }: Config,
  { client, namespace }: TemporalConnection,
): Promise<void> {
  if (await hasWorker({ client, namespace, taskQueue })) add('worker', 'ok', `A worker polls task queue ${taskQueue}.`);
  else
    add('worker', 'warning', `No worker polls task queue ${taskQueue}: runs are accepted, and wait.`, [
      'npx signalbox start --only worker',
    ]);
}

/** Where versions were switched off, tasks still go to the version that was current last. */
async function examineVersions(
  add: AddFinding,
  { workerVersioning, taskQueue }: Config,
  { connection, namespace }: TemporalConnection,
): Promise<void> {
  const deployment = deploymentOf(taskQueue);
  const current = await currentVersion(connection, namespace, deployment);
  if (current === undefined) return;
  if (workerVersioning !== 'off') return add('versions', 'ok', `Tasks go to workers of version ${current}.`);
  const text =
    `Tasks go to workers of version ${current} only, and SIGNALBOX_WORKER_VERSIONING is 0 here: such workers get ` +
    'none. Set it to 1, or give the tasks to workers without a version:';
  add('versions', 'blocks', text, [
    `temporal worker deployment set-current-version --namespace ${namespace} --deployment-name ${deployment} ` +
      '--unversioned --yes',
  ]);
}
