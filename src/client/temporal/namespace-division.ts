/**
 * Separates actors from runs by a search attribute (src/contract/namespace-division.ts). A Temporal server that does
 * not know the attribute refuses it in queries as well as in starts. So one query probes for it, and actors start
 * without it where the server does not know it.
 */
import type { Client } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { ulid } from 'ulid';
import {
  ACTOR_NAMESPACE_DIVISION,
  NAMESPACE_DIVISION_ATTRIBUTE,
  SET_DIVISION_SIGNAL,
  STORED_WORKFLOWS,
} from '../../contract/namespace-division.ts';
import { FIRE_WORKFLOW } from '../../contract/triggers/fire.ts';
import { divisionKey } from '../search-attributes/keys.ts';
import { any, type Clause, compare, hostQuery, isNull, oneOf, queryOf } from '../search-attributes/query.ts';
import { type Access, unaudited } from './access.ts';
import type { TemporalConnection } from './connect.ts';
import { isScheduleId } from './ids.ts';
import { isInvalidArgument, read, writeUnqueued } from './rpc.ts';

/** Whether the server of each client knows the attribute. */
const divisionSupport = new WeakMap<Client, Promise<boolean>>();

/** Whether the server knows the attribute; probed once in each process. @throws ClientError `temporal_unreachable`. */
export function supportsDivision(server: Pick<Access, 'client'>): Promise<boolean> {
  const known = divisionSupport.get(server.client);
  if (known !== undefined) return known;
  const pending = probeDivisionSupport(server);
  divisionSupport.set(server.client, pending);
  pending.catch(() => divisionSupport.delete(server.client));
  return pending;
}

async function probeDivisionSupport(server: Pick<Access, 'client'>): Promise<boolean> {
  try {
    await read(server, () =>
      server.client.workflow.count(`${NAMESPACE_DIVISION_ATTRIBUTE} = '${ACTOR_NAMESPACE_DIVISION}'`),
    );
    return true;
  } catch (error) {
    if (isInvalidArgument(error)) return false;
    throw error;
  }
}

/** The search attributes with which an actor starts. */
export async function actorAttributes(
  server: Pick<Access, 'client'>,
  ...more: readonly SearchAttributePair[]
): Promise<{ typedSearchAttributes: TypedSearchAttributes }> {
  const divisionPairs = (await supportsDivision(server)) ? [{ key: divisionKey, value: ACTOR_NAMESPACE_DIVISION }] : [];
  return { typedSearchAttributes: new TypedSearchAttributes([...divisionPairs, ...more]) };
}

/** As queryOf, for actors. Includes actors that an earlier version started without the attribute. */
export async function actorQuery(
  server: Pick<Access, 'client'>,
  org: string,
  workflowType: string,
  clauses: readonly Clause[],
): Promise<string> {
  const divisionClauses = (await supportsDivision(server))
    ? [any(compare('division', '=', ACTOR_NAMESPACE_DIVISION), isNull('division'))]
    : [];
  return queryOf(org, workflowType, [...clauses, ...divisionClauses]);
}

/**
 * Adds the attribute to the data of earlier versions: to schedules, and to actors by a batch of signals that workers
 * handle. Answers the number of actors.
 */
export async function backfillDivision({ client, namespace }: TemporalConnection, taskQueue: string): Promise<number> {
  if (!(await supportsDivision({ client }))) return 0;
  const query = hostQuery([
    compare('taskQueue', '=', taskQueue),
    oneOf('workflowType', STORED_WORKFLOWS),
    compare('executionStatus', '=', 'Running'),
    isNull('division'),
  ]);
  const { count } = await read({ client }, () => client.workflow.count(query));
  if (count === 0) return 0;
  await backfillScheduleDivision(client);
  await writeUnqueued(unaudited({ client }), 'rest', () =>
    client.workflowService.startBatchOperation({
      namespace,
      jobId: `signalbox.set-apart.${ulid()}`,
      visibilityQuery: query,
      reason: 'Stored things are set apart from runs.',
      signalOperation: { signal: SET_DIVISION_SIGNAL, identity: 'signalbox' },
    }),
  );
  return count;
}

/** Each tick of a schedule starts a workflow of its own. */
async function backfillScheduleDivision(client: Client): Promise<void> {
  for await (const { scheduleId, action } of client.schedule.list()) {
    if (!isScheduleId(scheduleId) || action?.workflowType !== FIRE_WORKFLOW) continue;
    await writeUnqueued(unaudited({ client }), 'rest', () =>
      client.schedule.getHandle(scheduleId).update(({ action: started, ...rest }) => ({
        ...rest,
        action: { ...started, typedSearchAttributes: [{ key: divisionKey, value: ACTOR_NAMESPACE_DIVISION }] },
      })),
    );
  }
}
