/**
 * Who changed what, and when. A change is recorded first and made afterwards; then its outcome is recorded. Where the
 * first record fails, nothing is changed. Where the second is missing, the list shows the outcome as unknown. Both are
 * signals, which the server keeps without a worker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { ulid } from 'ulid';
import { AUDIT_WORKFLOW, type AuditedChange, type AuditedOutcome, type AuditStart } from '../../contract/audit.ts';
import { attributeValue } from '../../contract/search-attributes.ts';
import { idPart } from '../../contract/workflow-ids.ts';
import { ClientError, hasCode } from '../errors.ts';
import { type Access, unaudited } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { actorAttributes } from '../temporal/division.ts';
import { writeAlong } from '../temporal/rpc.ts';
import { searchAttributes } from '../temporal/search-attributes.ts';

/** Changes of this process between two looks at how long a history has become. */
const LOOK_EVERY = 50;
const OUTCOME_TRIES = 5;
const OUTCOME_PAUSE_MS = 1_000;

/** The actor of a month's part: the first has the plain id. */
export const auditId = (org: string, month: string, part: number): string =>
  `audit.${idPart(org)}.${month}${part === 1 ? '' : `.${part}`}`;

/** A change that was announced. */
export interface Announced {
  readonly id: string;
  /** The actor that was told, and is told of the outcome. */
  readonly workflowId: string;
}

export interface AuditTrail {
  /** Resolves when it is written down. @throws ClientError `temporal_unreachable`: then nothing may be changed. */
  announce(org: string, change: Omit<AuditedChange, 'id' | 'at'>): Promise<Announced>;
  /** Written down in the background. */
  conclude(announced: Announced, outcome: Omit<AuditedOutcome, 'of'>): void;
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>;
}

/** An actor that somebody terminated counts as full. */
async function takesMore(access: Access, workflowId: string): Promise<boolean> {
  const description = await describe(access, workflowId);
  if (description === undefined) return true;
  return description.status.name === 'RUNNING' && description.historyLength < access.historyLimit;
}

export function auditOver(over: Access): AuditTrail {
  const access = unaudited(over);
  const parts = new Map<string, { month: string; part: number; told: number }>();
  const writing = new Set<Promise<void>>();

  /** The actor that takes the organization's next change. */
  const actorOf = async (org: string): Promise<string> => {
    const month = new Date().toISOString().slice(0, 7);
    const known = parts.get(org);
    if (known?.month === month && known.told < LOOK_EVERY) {
      known.told += 1;
      return auditId(org, month, known.part);
    }
    let part = known?.month === month ? known.part : 1;
    while (!(await takesMore(access, auditId(org, month, part)))) part += 1;
    parts.set(org, { month, part, told: 1 });
    return auditId(org, month, part);
  };

  const tell = async (org: string, change: AuditedChange): Promise<string> => {
    const workflowId = await actorOf(org);
    const apart = await actorAttributes(access, { key: searchAttributes.org, value: attributeValue(org) });
    await writeAlong(access, () =>
      access.client.workflow.signalWithStart<(start: AuditStart) => Promise<never>, [AuditedChange]>(AUDIT_WORKFLOW, {
        workflowId,
        taskQueue: access.taskQueue,
        args: [{ organizationId: org }],
        signal: 'change',
        signalArgs: [change],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        ...apart,
      }),
    );
    return workflowId;
  };

  return {
    announce: async (org, change) => {
      const told: AuditedChange = { id: ulid(), at: new Date().toISOString(), ...change };
      try {
        const workflowId = await tell(org, told).catch((error: unknown) => {
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
          // Somebody has ended the actor meanwhile.
          parts.delete(org);
          return tell(org, told);
        });
        return { id: told.id, workflowId };
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
      const handle = access.client.workflow.getHandle(workflowId);
      const write = async (): Promise<void> => {
        for (let tries = 1; tries <= OUTCOME_TRIES; tries++) {
          try {
            return await writeAlong(access, () => handle.signal<[AuditedOutcome]>('outcome', { of: id, ...outcome }));
          } catch {
            if (tries < OUTCOME_TRIES) await delay(OUTCOME_PAUSE_MS, undefined, { ref: false });
          }
        }
      };
      const written = write();
      writing.add(written);
      void written.finally(() => writing.delete(written));
    },
    settled: async () => {
      while (writing.size > 0) await Promise.all(writing);
    },
  };
}
