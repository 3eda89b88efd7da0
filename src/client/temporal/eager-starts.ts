/**
 * Starts of runs through the worker of the same host: Temporal's eager workflow start. Temporal answers such a start
 * with the run's first task, so nothing has to be dispatched, written and polled for. The task goes to the worker over
 * whose connection the start was sent, so the gateway hands the request to the worker's process, with these messages.
 *
 * The worker is a short cut and nothing else. Where it does not answer in time, or with anything but a started run, the
 * gateway sends the request itself. Both requests have the same request id, so Temporal starts one run at most.
 */
import type { Connection, ConnectionLike } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';
import { RUN_WORKFLOW } from '../../contract/run/run.ts';
import { isObject } from '../../json/json.ts';
import { withMethods } from './replaced-methods.ts';

const { StartWorkflowExecutionRequest, StartWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;

/** Copying more between the processes costs more than it saves. */
const MAX_BYTES = 200_000;

/** From the gateway to the worker. */
export interface EagerStart {
  readonly type: 'eagerStart';
  readonly id: number;
  /** An encoded StartWorkflowExecutionRequest. */
  readonly request: Uint8Array;
  /** Epoch milliseconds: afterwards the gateway has sent the request itself. */
  readonly until: number;
}

/** From the worker to the gateway. */
export interface EagerAnswer {
  readonly type: 'eagerAnswer';
  /** Of the start. */
  readonly id: number;
  /** An encoded StartWorkflowExecutionResponse. Absent: ask Temporal. */
  readonly response?: Uint8Array;
}

/** Resolves to the encoded response, or to undefined where the request has to be sent to Temporal. Does not reject. */
export type SendEagerly = (request: Uint8Array) => Promise<Uint8Array | undefined>;

/** The connection, with starts of runs handed to `send` first. */
export function withEagerStarts(connection: Connection, send: SendEagerly): ConnectionLike {
  const { workflowService } = connection;
  const start = async (
    request: temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest,
  ): Promise<temporal.api.workflowservice.v1.StartWorkflowExecutionResponse> => {
    if (request.workflowType?.name === RUN_WORKFLOW) {
      const bytes = StartWorkflowExecutionRequest.encode(request).finish();
      const response = bytes.length > MAX_BYTES ? undefined : await send(bytes);
      if (response !== undefined) return StartWorkflowExecutionResponse.decode(response);
    }
    return workflowService.startWorkflowExecution(request);
  };
  return withMethods(connection, { startWorkflowExecution: start });
}

/** Sends a start over the worker's connection. Does not reject. */
export async function startEagerly(
  connection: Pick<ConnectionLike, 'workflowService' | 'withDeadline'>,
  { id, request, until }: EagerStart,
): Promise<EagerAnswer> {
  const answer = { type: 'eagerAnswer', id } as const;
  if (Date.now() > until) return answer;
  const eagerRequest = StartWorkflowExecutionRequest.decode(request);
  eagerRequest.requestEagerExecution = true;
  try {
    const response = await connection.withDeadline(until, () =>
      connection.workflowService.startWorkflowExecution(eagerRequest),
    );
    // The SDK has taken the task.
    response.eagerWorkflowTask = null;
    return { ...answer, response: StartWorkflowExecutionResponse.encode(response).finish() };
  } catch {
    return answer;
  }
}

export const isEagerStart = (message: unknown): message is EagerStart =>
  isObject(message) && message['type'] === 'eagerStart';

export const isEagerAnswer = (message: unknown): message is EagerAnswer =>
  isObject(message) && message['type'] === 'eagerAnswer';
