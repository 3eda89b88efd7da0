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
const SILENT_MS = 15_000;
/** A long poll returns after a minute at the latest, and the next one begins immediately. */
const POLL_MS = 75_000;
const MOST_WORKERS = 1_000;

const { WORKER_STATUS_RUNNING } = proto.temporal.api.enums.v1.WorkerStatus;
const { TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

type Server = Pick<Access, 'client' | 'namespace' | 'taskQueue'>;

/** The identity of a process's worker on this machine. */
export const identityOf = (pid: number): string => `${pid}@${hostname()}`;

/** `dead`: identities of workers that are known to have ended. */
export async function hasWorker(access: Server, dead: ReadonlySet<string> = new Set()): Promise<boolean> {
  const [beats, pollers] = await Promise.all([beatsOf(access), pollersOf(access)]);
  const now = Date.now();
  const isRecent = (at: Timestamp, withinMs: number) => now - (msOf(at) ?? 0) < withinMs;
  const isAlive = ({ status, workerIdentity, heartbeatTime }: (typeof beats)[number]) =>
    status === WORKER_STATUS_RUNNING && !dead.has(workerIdentity ?? '') && isRecent(heartbeatTime, SILENT_MS);
  if (beats.some(isAlive)) return true;
  const silent = new Set(beats.map(({ workerIdentity }) => workerIdentity));
  return pollers.some(
    ({ identity, lastAccessTime }) =>
      !silent.has(identity) && !dead.has(identity ?? '') && isRecent(lastAccessTime, POLL_MS),
  );
}

async function beatsOf({ client, namespace, taskQueue }: Server) {
  const query = `TaskQueue = '${taskQueue.replaceAll("'", "''")}'`;
  try {
    const { workersInfo } = await read({ client }, () =>
      client.workflowService.listWorkers({ namespace, query, pageSize: MOST_WORKERS }),
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
