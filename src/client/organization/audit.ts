/**
 * Records who changed what, and when. The change is recorded before it is made, and its outcome afterwards. If the
 * first record fails, the change is not made. If the second record is missing, the list shows the outcome as unknown.
 * Both records are signals, which the server keeps without a worker. What many requests record at the same time goes
 * in one signal, which has a record in each argument.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { ulid } from 'ulid';
import {
  AUDIT_WORKFLOW,
  type AuditedChange,
  type AuditedOutcome,
  type AuditStart,
} from '../../contract/organization/audit.ts';
import { attributeValue } from '../../contract/search-attributes.ts';
import { idPart } from '../../contract/workflow-ids.ts';
import { Batcher } from '../concurrency/batcher.ts';
import { ClientError, hasCode } from '../errors.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import { type Access, unaudited, withCaller } from '../temporal/access.ts';
import { ACTOR_PRIORITY, describe } from '../temporal/actor-calls.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { writeUnqueued } from '../temporal/rpc.ts';

/** Changes that this process records before it checks the length of the history again. */
const CHANGES_PER_LENGTH_CHECK = 50;
/** Records in one signal. Each has some hundred bytes. */
const MAX_RECORDS_PER_SIGNAL = 100;
/**
 * An outcome waits so long for others. Besides, the caller often asks for what the change has led to right after the
 * answer, and should not wait for the audit.
 */
const OUTCOME_DELAY_MS = 100;
const OUTCOME_ATTEMPTS = 5;
const OUTCOME_RETRY_MS = 1_000;

/** The actor of one part of a month. The first part has the plain id. */
export const auditId = (org: string, month: string, part: number): string =>
  `audit.${idPart(org)}.${month}${part === 1 ? '' : `.${part}`}`;

/** A recorded change whose outcome is still to be recorded. */
export interface AnnouncedChange {
  readonly id: string;
  /** The actor that has the record, and gets the outcome. */
  readonly workflowId: string;
}

export interface AuditTrail {
  /**
   * Resolves when the change is recorded. @throws ClientError `temporal_unreachable`: the change must then not be made.
   */
  announce(org: string, change: Omit<AuditedChange, 'id' | 'at'>): Promise<AnnouncedChange>;
  /** Records the outcome in the background. */
  conclude(announced: AnnouncedChange, outcome: Omit<AuditedOutcome, 'of'>): void;
  /** Resolves when all pending records are written. */
  drain(): Promise<void>;
}

/** An actor that was terminated counts as full. */
async function hasRoom(access: Access, workflowId: string): Promise<boolean> {
  const description = await describe(access, workflowId);
  if (description === undefined) return true;
  return description.status.name === 'RUNNING' && description.historyLength < access.historyLimit;
}

export function createAuditTrail(over: Access): AuditTrail {
  const access = unaudited(over);
  const parts = new Map<string, { month: string; part: number; recordedChanges: number }>();
  const writing = new Set<Promise<void>>();

  /** The actor that records the organization's next change. */
  const actorOf = async (org: string, changes: number): Promise<string> => {
    const month = new Date().toISOString().slice(0, 7);
    const known = parts.get(org);
    if (known?.month === month && known.recordedChanges < CHANGES_PER_LENGTH_CHECK) {
      known.recordedChanges += changes;
      return auditId(org, month, known.part);
    }
    let part = known?.month === month ? known.part : 1;
    while (!(await hasRoom(access, auditId(org, month, part)))) part += 1;
    parts.set(org, { month, part, recordedChanges: changes });
    return auditId(org, month, part);
  };

  const signalChanges = async (org: string, changes: readonly AuditedChange[]): Promise<string> => {
    const workflowId = await actorOf(org, changes.length);
    const own = withCaller(access, org);
    const attributes = await actorAttributes(access, { key: searchAttributes.org, value: attributeValue(org) });
    await writeUnqueued(own, 'rest', () =>
      access.client.workflow.signalWithStart<(start: AuditStart) => Promise<never>, AuditedChange[]>(AUDIT_WORKFLOW, {
        workflowId,
        taskQueue: access.taskQueue,
        args: [{ organizationId: org }],
        signal: 'change',
        signalArgs: [...changes],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        ...attributes,
        priority: ACTOR_PRIORITY,
      }),
    );
    return workflowId;
  };

  /** By organization. */
  const changes = new Batcher<AuditedChange, string>(MAX_RECORDS_PER_SIGNAL, (org, batch) =>
    signalChanges(org, batch).catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      // The actor was terminated in the meantime.
      parts.delete(org);
      return signalChanges(org, batch);
    }),
  );
  /** By actor. */
  const outcomes = new Batcher<AuditedOutcome, void>(
    MAX_RECORDS_PER_SIGNAL,
    async (workflowId, batch) => {
      const handle = access.client.workflow.getHandle(workflowId);
      for (let tries = 1; tries <= OUTCOME_ATTEMPTS; tries++) {
        try {
          return await writeUnqueued(access, 'rest', () => handle.signal<AuditedOutcome[]>('outcome', ...batch));
        } catch {
          if (tries < OUTCOME_ATTEMPTS) await delay(OUTCOME_RETRY_MS, undefined, { ref: false });
        }
      }
    },
    OUTCOME_DELAY_MS,
  );

  return {
    announce: async (org, change) => {
      const stamped: AuditedChange = { id: ulid(), at: new Date().toISOString(), ...change };
      try {
        const workflowId = await changes.add(org, stamped);
        return { id: stamped.id, workflowId };
      } catch (error) {
        if (!hasCode(error, 'outcome_unknown', 'temporal_unreachable')) throw error;
        throw new ClientError(
          'temporal_unreachable',
          'The change could not be noted in the audit, so it was not made. Try again shortly.',
          { cause: error },
        );
      }
    },
    conclude: ({ id, workflowId }, outcome) => {
      const written = outcomes.add(workflowId, { of: id, ...outcome });
      writing.add(written);
      void written.finally(() => writing.delete(written));
    },
    drain: async () => {
      while (writing.size > 0) await Promise.all(writing);
    },
  };
}
