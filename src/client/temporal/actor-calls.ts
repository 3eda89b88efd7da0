/** Writes to actors and reads from them, whatever they hold. */
import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { type Priority, type Workflow, WorkflowNotFoundError } from '@temporalio/common';
import { ulid } from 'ulid';
import type { ActorStart, Keyed } from '../../contract/actors.ts';
import type { Unreadable } from '../../history/events.ts';
import { executionInfoFromRaw } from '../../temporal-internals/sdk.ts';
import type { Access, WriteAccess } from './access.ts';
import { actorAttributes } from './namespace-division.ts';
import { type Lane, read, write } from './rpc.ts';
import { tryRead } from './unreadable-data.ts';

/** An actor, with its input in case it must be started. */
export interface Actor<Start extends ActorStart> {
  readonly workflowId: string;
  readonly workflowType: string;
  readonly start: Start;
}

/** Where tasks have to wait, those of actors go before those of runs: a request waits for the answer. */
export const ACTOR_PRIORITY: Priority = { priorityKey: 1 };

type Keyless<Request> = Omit<Request, 'key'>;

/**
 * Sends the update and starts the actor where it does not exist. A repeated `key` gets the same answer.
 * @throws ClientError with the actor's code when it refuses.
 */
export async function updateWithStart<Request extends Keyed, Answer>(
  access: WriteAccess,
  actor: Actor<ActorStart>,
  update: string,
  request: Keyless<Request>,
  key = ulid(),
): Promise<Answer> {
  const searchAttributes = await actorAttributes(access);
  return write(access, 'rest', actor.workflowId, () =>
    access.client.workflow.executeUpdateWithStart<Workflow, Answer, [Keyless<Request> & Keyed]>(update, {
      updateId: key,
      args: [{ ...request, key }],
      startWorkflowOperation: new WithStartWorkflowOperation(actor.workflowType, {
        workflowId: actor.workflowId,
        taskQueue: access.taskQueue,
        args: [actor.start],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        ...searchAttributes,
        priority: ACTOR_PRIORITY,
      }),
    }),
  );
}

/**
 * Sends the update to an existing actor. A repeated `key` gets the same answer.
 * @throws ClientError `not_found` where it does not exist.
 */
export function updateActor<Request extends Keyed, Answer>(
  access: WriteAccess,
  workflowId: string,
  update: string,
  request: Keyless<Request>,
  key = ulid(),
): Promise<Answer> {
  return write(access, 'rest', workflowId, () =>
    access.client.workflow.getHandle(workflowId).executeUpdate<Answer, [Keyless<Request> & Keyed]>(update, {
      updateId: key,
      args: [{ ...request, key }],
    }),
  );
}

/** Starts a workflow. Answers its run id, or undefined where the id is taken. */
export function startUnlessTaken(
  access: WriteAccess,
  lane: Lane,
  workflowType: string,
  options: Omit<WorkflowStartOptions, 'taskQueue'>,
): Promise<string | undefined> {
  return write(access, lane, options.workflowId, async () => {
    try {
      const handle = await access.client.workflow.start(workflowType, { ...options, taskQueue: access.taskQueue });
      return handle.firstExecutionRunId;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
      throw error;
    }
  });
}

/** The latest execution under that id, or undefined. */
export async function describe(access: Access, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  return read(access, async () => {
    try {
      return await access.client.workflow.getHandle(workflowId).describe();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  });
}

/** One field of the memo of an open actor. Undefined where the actor or the field does not exist. */
export async function readMemo<T>(access: Access, workflowId: string, field: string): Promise<T | undefined> {
  const description = await describe(access, workflowId);
  if (description?.status.name !== 'RUNNING') return undefined;
  return (description.memo?.[field] ?? undefined) as T | undefined;
}

/** A description. The memo may be missing, with the reason. */
export type PartialDescription = WorkflowExecutionDescription & { readonly unreadable?: Unreadable };

/** As `describe`, but does not fail where the memo is unreadable. */
export async function describePartially(access: Access, workflowId: string): Promise<PartialDescription | undefined> {
  const described = await tryRead(() => describe(access, workflowId));
  if (described.unreadable === undefined) return described.value;
  const raw = await read(access, () =>
    access.client.workflowService.describeWorkflowExecution({
      namespace: access.namespace,
      execution: { workflowId },
    }),
  );
  const { memo: _memo, ...info } = raw.workflowExecutionInfo ?? {};
  const converter = access.client.options.loadedDataConverter;
  const nothing = async () => undefined;
  return {
    ...(await executionInfoFromRaw(info, converter, raw, access.namespace)),
    raw,
    staticDetails: nothing,
    staticSummary: nothing,
    unreadable: described.unreadable,
  };
}
