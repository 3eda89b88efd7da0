/**
 * Looks at a Temporal server as gateway and workers will use it. Nothing that belongs to runs is read or changed, and
 * nothing is set: each finding has the lines to set.
 */
import { Connection } from '@temporalio/client';
import type { Config } from '../../config/config.ts';
import { deploymentOf } from '../../contract/build-id.ts';
import { defined } from '../../json/defined.ts';
import { ConnectError, connect, connectionOptions, type TemporalConnection } from '../temporal/connect.ts';
import { currentVersion } from '../temporal/deployment.ts';
import { GRPC } from '../temporal/grpc.ts';
import { grpcOf } from '../temporal/rpc.ts';
import { hasWorker } from '../temporal/worker-liveness.ts';
import { attributesFinding } from './attributes.ts';
import { certificateFindings } from './certificates.ts';
import type { Check, Finding } from './finding.ts';
import { LISTS, measureTimers, refusedLists } from './measures.ts';

const SECONDS_A_DAY = 86_400;
/** Timers later than this make short sleeps and retries slow. */
const LATE_MS = 300;
const MOST_SKEW_MS = 2_000;
const OLDEST: readonly [number, number] = [1, 28];
const ADD = 'Add to the dynamic configuration (deploy/temporal/dynamic-config.yaml has all of it):';

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
    return [{ check: 'connection', level: 'blocks', text: error.message, ...defined({ lines }) }];
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
  const findings: Finding[] = [{ check: 'connection', level: 'ok', text: `Temporal answers at ${address}.` }];
  findings.push(...(await certificateFindings(config)));
  const server = await about(findings, 'server', () => serverFinding(connection));
  const namespaceFound = await about(findings, 'namespace', () => namespaceFindings(connection, config));
  // Everything else is about what the namespace holds.
  if (namespaceFound !== true) return findings;
  await about(findings, 'search attributes', async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const isSql = server?.visibility !== 'elasticsearch' && server?.visibility !== 'opensearch';
    return { findings: [attributesFinding(customAttributes ?? {}, isSql, namespace)] };
  });
  await about(findings, 'timers', () => timerFindings(temporal));
  await about(findings, 'lists', () => listFinding(config));
  await about(findings, 'worker', () => workerFinding(config, temporal));
  await about(findings, 'versions', () => versionFindings(config, temporal));
  return findings;
}

/** Adds what `look` finds. What may not be looked at, or not now, is a warning; what fails otherwise blocks. */
async function about<T>(
  findings: Finding[],
  check: Check,
  look: () => Promise<{ readonly findings: readonly Finding[]; readonly value?: T }>,
): Promise<T | undefined> {
  try {
    const found = await look();
    findings.push(...found.findings);
    return found.value;
  } catch (error) {
    const grpc = grpcOf(error);
    if (grpc === undefined) throw error;
    const isRefused = grpc.code === GRPC.PERMISSION_DENIED || grpc.code === GRPC.UNIMPLEMENTED;
    const why = isRefused ? 'These credentials may not look at it' : 'The server answered';
    const isPassing = isRefused || grpc.code === GRPC.RESOURCE_EXHAUSTED;
    findings.push({ check, level: isPassing ? 'warning' : 'blocks', text: `${why}: ${grpc.details}` });
    return undefined;
  }
}

async function serverFinding(connection: Connection) {
  const { serverVersion, persistenceStore, visibilityStore, historyShardCount } =
    await connection.workflowService.getClusterInfo({});
  const value: Server = { version: serverVersion ?? '', visibility: visibilityStore ?? '' };
  const [major = 0, minor = 0] = (serverVersion ?? '').split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  const stores = `data in ${persistenceStore}, lists in ${visibilityStore}, ${historyShardCount} history shards`;
  const text = `Temporal ${serverVersion}, ${stores}.`;
  const finding: Finding = isOld
    ? { check: 'server', level: 'blocks', text: `${text} Version ${OLDEST.join('.')} or newer is needed.` }
    : { check: 'server', level: 'ok', text };
  const shards: Finding[] =
    persistenceStore !== 'sqlite' && Number(historyShardCount) < 4
      ? [
          {
            check: 'server',
            level: 'warning',
            text: 'The number of history shards limits throughput, and can never be changed for a cluster.',
            lines: ['persistence.numHistoryShards: 512   # of a new cluster'],
          },
        ]
      : [];
  return { findings: [finding, ...shards], value };
}

async function namespaceFindings(connection: Connection, { temporal: { namespace }, retentionDays }: Config) {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    const days = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / SECONDS_A_DAY;
    const retention: Finding =
      days >= retentionDays
        ? { check: 'retention', level: 'ok', text: `Closed runs are kept for ${days} days.` }
        : {
            check: 'retention',
            level: 'warning',
            text: `Closed runs are kept for ${days} days, and SIGNALBOX_RETENTION_DAYS is ${retentionDays}.`,
            lines: [`temporal operator namespace update --namespace ${namespace} --retention ${retentionDays}d`],
          };
    const found: Finding = { check: 'namespace', level: 'ok', text: `Namespace ${namespace} exists.` };
    return { findings: [found, retention], value: true };
  } catch (error) {
    if (grpcOf(error)?.code !== GRPC.NOT_FOUND) throw error;
    const missing: Finding = {
      check: 'namespace',
      level: 'note',
      text: `Namespace ${namespace} does not exist. Starting a gateway or a worker creates it, if it is allowed to.`,
      lines: [`temporal operator namespace create --namespace ${namespace} --retention ${retentionDays}d`],
    };
    return { findings: [missing], value: false };
  }
}

async function timerFindings({ client }: TemporalConnection): Promise<{ findings: Finding[] }> {
  const measured = await measureTimers(client);
  const lines = ['history.timerProcessorMaxTimeShift:', '  - value: 10ms'];
  if (measured === undefined)
    return {
      findings: [{ check: 'timers', level: 'blocks', text: 'A timer of 10 ms did not fire within 8 s.', lines }],
    };
  const { lateMs, skewMs } = measured;
  const late = `A timer of 10 ms is ${Math.max(0, Math.round(lateMs))} ms late`;
  return {
    findings: [
      lateMs > LATE_MS
        ? {
            check: 'timers',
            level: 'warning',
            text: `${late}. ${ADD}`,
            lines,
          }
        : { check: 'timers', level: 'ok', text: `${late}.` },
      Math.abs(skewMs) > MOST_SKEW_MS
        ? {
            check: 'clock',
            level: 'warning',
            text: `The server's clock differs by ${Math.round(skewMs)} ms from this machine's. Synchronize both (NTP).`,
          }
        : { check: 'clock', level: 'ok', text: "The server's clock agrees with this machine's." },
    ],
  };
}

async function listFinding(config: Config): Promise<{ findings: Finding[] }> {
  const connection = await Connection.connect({ ...connectionOptions(config), interceptors: [] });
  try {
    const refused = await refusedLists(connection, config.temporal.namespace);
    if (refused === 0)
      return { findings: [{ check: 'lists', level: 'ok', text: `${LISTS} lists at the same time are answered.` }] };
    return {
      findings: [
        {
          check: 'lists',
          level: 'warning',
          text: `${refused} of ${LISTS} lists at the same time are refused. ${ADD}`,
          lines: ['frontend.namespaceRPS.visibility:', '  - value: 1000'],
        },
      ],
    };
  } finally {
    await connection.close();
  }
}

async function workerFinding(config: Config, temporal: TemporalConnection): Promise<{ findings: Finding[] }> {
  const { client, namespace } = temporal;
  const isAlive = await hasWorker({ client, namespace, taskQueue: config.taskQueue });
  const finding: Finding = isAlive
    ? { check: 'worker', level: 'ok', text: `A worker polls task queue ${config.taskQueue}.` }
    : {
        check: 'worker',
        level: 'warning',
        text: `No worker polls task queue ${config.taskQueue}: runs are accepted, and wait.`,
        lines: ['npx signalbox start --only worker'],
      };
  return { findings: [finding] };
}

/** Where versions were switched off, tasks still go to the version that was current last. */
async function versionFindings(
  { workerVersioning, taskQueue }: Config,
  { connection, namespace }: TemporalConnection,
): Promise<{ findings: Finding[] }> {
  const deployment = deploymentOf(taskQueue);
  const current = await currentVersion(connection, namespace, deployment);
  const check = 'versions';
  if (current === undefined) return { findings: [] };
  if (workerVersioning !== 'off')
    return { findings: [{ check, level: 'ok', text: `Tasks go to workers of version ${current}.` }] };
  const finding: Finding = {
    check,
    level: 'blocks',
    text:
      `Tasks go to workers of version ${current} only, and SIGNALBOX_WORKER_VERSIONING is 0 here: such workers get ` +
      'none. Set it to 1, or give the tasks to workers without a version:',
    lines: [
      `temporal worker deployment set-current-version --namespace ${namespace} --deployment-name ${deployment} ` +
        '--unversioned --yes',
    ],
  };
  return { findings: [finding] };
}
