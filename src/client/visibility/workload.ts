/** The workload: the backlog of the task queue, and open runs. For metrics. */
import proto from '@temporalio/proto';
import { RUN_WORKFLOW, type RunStatus, type WaitingFor } from '../../contract/run/run.ts';
import { ATTRIBUTES } from '../../contract/search-attributes.ts';
import type { Access } from '../temporal/access.ts';
import { read } from '../temporal/rpc.ts';

const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;
const TYPES = { workflow: TASK_QUEUE_TYPE_WORKFLOW, activity: TASK_QUEUE_TYPE_ACTIVITY } as const;

const OPEN_STATUSES = ['pending', 'running', 'waiting', 'rolling_back'] as const satisfies RunStatus[];

export const WAIT_KINDS = [
  'approval',
  'input',
  'message',
  'callback',
  'timer',
  'child',
] as const satisfies WaitingFor['kind'][];

interface QueueLoad {
  readonly type: keyof typeof TYPES;
  /** Seconds. 0 without a backlog. */
  readonly age: number;
  readonly tasks: number;
  readonly pollers: number;
}

/** Both parts of the task queue. @throws ClientError `temporal_unreachable`. */
export function queueLoads(access: Access): Promise<QueueLoad[]> {
  const { client, namespace, taskQueue } = access;
  return Promise.all(
    Object.entries(TYPES).map(async ([type, taskQueueType]) => {
      const { stats, pollers } = await read(access, () =>
        client.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: taskQueue },
          taskQueueType,
          reportStats: true,
        }),
      );
      const { seconds, nanos } = stats?.approximateBacklogAge ?? {};
      return {
        type: type as QueueLoad['type'],
        age: Number(seconds ?? 0) + (nanos ?? 0) / 1e9,
        tasks: Number(stats?.approximateBacklogCount ?? 0),
        pollers: pollers?.length ?? 0,
      };
    }),
  );
}

/** Open runs of all organizations, by status. @throws ClientError `temporal_unreachable`. */
export function openRunCounts(access: Access): Promise<{ status: RunStatus; count: number }[]> {
  return Promise.all(
    OPEN_STATUSES.map(async (status) => ({ status, count: await openCount(access, ATTRIBUTES.status, status) })),
  );
}

/**
 * Open runs of all organizations that wait, by what they wait for. A run that waits for several kinds counts for each.
 * @throws ClientError `temporal_unreachable`.
 */
export function openWaitCounts(access: Access): Promise<{ kind: WaitingFor['kind']; count: number }[]> {
  return Promise.all(
    WAIT_KINDS.map(async (kind) => ({ kind, count: await openCount(access, ATTRIBUTES.waiting, kind) })),
  );
}

async function openCount(access: Access, attribute: string, value: string): Promise<number> {
  const query =
    `WorkflowType = '${RUN_WORKFLOW}' AND ExecutionStatus = 'Running' AND ${attribute} = '${value}' ` +
    `AND TaskQueue = '${access.taskQueue.replaceAll("'", "''")}'`;
  return (await read(access, () => access.client.workflow.count(query))).count;
}
