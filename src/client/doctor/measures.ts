/**
 * Measures what a server's dynamic configuration does, since it cannot be read. The measures start workflows that no
 * worker takes, with the search attribute of actors, so that no list of runs shows them.
 */
import type { Client, Connection } from '@temporalio/client';
import { ulid } from 'ulid';
import { ACTOR_NAMESPACE_DIVISION, NAMESPACE_DIVISION_ATTRIBUTE } from '../../contract/namespace-division.ts';
import { GRPC } from '../temporal/grpc.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { grpcOf } from '../temporal/rpc.ts';

/** Nobody polls this task queue. */
const UNPOLLED_TASK_QUEUE = 'signalbox-doctor';
const TIMER_SAMPLES = 3;
const TIMER_MS = 10;
const TIMER_TIMEOUT_MS = 8_000;
/** Lists that are asked for at the same time. */
export const LIST_CONCURRENCY = 40;

interface TimerMeasure {
  /** How late a timer of 10 ms is, the median of three. */
  readonly lateMs: number;
  /** The server's clock minus this machine's. */
  readonly skewMs: number;
}

/** By workflows that time out after 10 ms. Undefined where one took more than 8 s. @throws errors of the client */
export async function measureTimers(client: Client): Promise<TimerMeasure | undefined> {
  const measured: TimerMeasure[] = [];
  for (let n = 0; n < TIMER_SAMPLES; n++) {
    const begun = Date.now();
    const handle = await client.workflow.start('doctor', {
      workflowId: `doctor.${ulid()}`,
      taskQueue: UNPOLLED_TASK_QUEUE,
      args: [],
      workflowRunTimeout: TIMER_MS,
      ...(await actorAttributes({ client })),
    });
    const answered = Date.now();
    const isOver = await client
      .withDeadline(Date.now() + TIMER_TIMEOUT_MS, () => handle.result())
      .then(
        () => true,
        (error: unknown) => grpcOf(error)?.code !== GRPC.DEADLINE_EXCEEDED,
      );
    if (!isOver) return undefined;
    const { startTime, closeTime } = await handle.describe();
    if (closeTime === undefined) return undefined;
    measured.push({
      lateMs: closeTime.getTime() - startTime.getTime() - TIMER_MS,
      skewMs: startTime.getTime() - (begun + answered) / 2,
    });
  }
  measured.sort((a, b) => a.lateMs - b.lateMs);
  return measured[Math.floor(TIMER_SAMPLES / 2)];
}

/** How many of 40 counts at the same time the server refused. `connection` must not repeat refused calls. */
export async function countRefusedCounts(connection: Connection, namespace: string): Promise<number> {
  const query = `${NAMESPACE_DIVISION_ATTRIBUTE} = '${ACTOR_NAMESPACE_DIVISION}' AND WorkflowType = 'doctor'`;
  const answers = await Promise.allSettled(
    Array.from({ length: LIST_CONCURRENCY }, () =>
      connection.workflowService.countWorkflowExecutions({ namespace, query }),
    ),
  );
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  const other = failed.find((error) => grpcOf(error)?.code !== GRPC.RESOURCE_EXHAUSTED);
  if (other !== undefined) throw other;
  return failed.length;
}
