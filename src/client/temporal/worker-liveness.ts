/**
 * Whether a worker lives. Temporal lists a poller for five minutes after its last poll, and a poll lasts a minute. So
 * the project's workers send heartbeats, which show it within seconds. Without heartbeats the polls decide.
 */
import { hostname } from 'node:os';
import proto from '@temporalio/proto';
import type { Access } from './access.ts';
import { GRPC } from './grpc.ts';
import { grpcOf, read } from './rpc.ts';
import { msOf, type Timestamp } from './timestamps.ts';

/** The interval of the heartbeats of workers/main.ts. */
export const HEARTBEAT_MS = 4_000;
/** Allows for three lost heartbeats, or for this much clock difference between two machines. */
const HEARTBEAT_TIMEOUT_MS = 15_000;
/** A long poll returns after a minute at the latest, and the next one begins immediately. */
const POLLER_TIMEOUT_MS = 75_000;
const MAX_WORKERS = 1_000;

const { WORKER_STATUS_RUNNING } = proto.temporal.api.enums.v1.WorkerStatus;
const { TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

type Server = Pick<Access, 'client' | 'namespace' | 'taskQueue'>;

/** The identity of a process's worker on this machine. */
export const identityOf = (pid: number): string => `${pid}@${hostname()}`;

/** `endedIdentities`: identities of workers that are known to have ended. */
export async function hasWorker(access: Server, endedIdentities: ReadonlySet<string> = new Set()): Promise<boolean> {
  const [heartbeats, pollers] = await Promise.all([heartbeatsOf(access), pollersOf(access)]);
  const now = Date.now();
  const isRecent = (at: Timestamp, withinMs: number) => now - (msOf(at) ?? 0) < withinMs;
  const isAlive = ({ status, workerIdentity, heartbeatTime }: (typeof heartbeats)[number]) =>
    status === WORKER_STATUS_RUNNING &&
    !endedIdentities.has(workerIdentity ?? '') &&
    isRecent(heartbeatTime, HEARTBEAT_TIMEOUT_MS);
  if (heartbeats.some(isAlive)) return true;
  const withHeartbeats = new Set(heartbeats.map(({ workerIdentity }) => workerIdentity));
  return pollers.some(
    ({ identity, lastAccessTime }) =>
      !withHeartbeats.has(identity) &&
      !endedIdentities.has(identity ?? '') &&
      isRecent(lastAccessTime, POLLER_TIMEOUT_MS),
  );
}

async function heartbeatsOf({ client, namespace, taskQueue }: Server) {
  const query = `TaskQueue = '${taskQueue.replaceAll("'", "''")}'`;
  try {
    const { workersInfo } = await read({ client }, () =>
      client.workflowService.listWorkers({ namespace, query, pageSize: MAX_WORKERS }),
    );
    return (workersInfo ?? []).flatMap(({ workerHeartbeat }) => (workerHeartbeat ? [workerHeartbeat] : []));
  } catch (error) {
    if (grpcOf(error)?.code === GRPC.UNIMPLEMENTED) return [];
    throw error;
  }
}

async function pollersOf({ client, namespace, taskQueue }: Server) {
  const { pollers } = await read({ client }, () =>
    client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: TASK_QUEUE_TYPE_WORKFLOW,
    }),
  );
  return pollers ?? [];
}
