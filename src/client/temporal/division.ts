/**
 * Separates actors from runs (src/contract/division.ts). A Temporal server that does not know the attribute refuses it
 * in queries as well as in starts. So one query finds out, and actors start without it where the server does not know
 * it.
 */
import type { Client } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { ulid } from 'ulid';
import { ACTOR_DIVISION, DIVISION_ATTRIBUTE, SET_APART_SIGNAL, STORED_WORKFLOWS } from '../../contract/division.ts';
import { FIRE_WORKFLOW } from '../../contract/fire.ts';
import { type Access, unaudited } from './access.ts';
import type { TemporalConnection } from './connect.ts';
import { isScheduleId } from './ids.ts';
import { any, type Clause, compare, hostQuery, isNull, oneOf, queryOf } from './query.ts';
import { isInvalidArgument, read, writeAlong } from './rpc.ts';
import { divisionKey } from './search-attributes.ts';

/** Whether the server of each client knows the attribute. */
const answers = new WeakMap<Client, Promise<boolean>>();

/** Whether the server knows the attribute; asked once in each process. @throws ClientError `temporal_unreachable`. */
export function knowsDivisions(server: Pick<Access, 'client'>): Promise<boolean> {
  const known = answers.get(server.client);
  if (known !== undefined) return known;
  const asked = ask(server);
  answers.set(server.client, asked);
  asked.catch(() => answers.delete(server.client));
  return asked;
}

async function ask(server: Pick<Access, 'client'>): Promise<boolean> {
  try {
    await read(server, () => server.client.workflow.count(`${DIVISION_ATTRIBUTE} = '${ACTOR_DIVISION}'`));
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
  const apart = (await knowsDivisions(server)) ? [{ key: divisionKey, value: ACTOR_DIVISION }] : [];
  return { typedSearchAttributes: new TypedSearchAttributes([...apart, ...more]) };
}

/** As queryOf, for actors. Includes actors that an earlier version started without the attribute. */
export async function actorQuery(
  server: Pick<Access, 'client'>,
  org: string,
  workflowType: string,
  clauses: readonly Clause[],
): Promise<string> {
  const apart = (await knowsDivisions(server))
    ? [any(compare('division', '=', ACTOR_DIVISION), isNull('division'))]
    : [];
  return queryOf(org, workflowType, [...clauses, ...apart]);
}

/**
 * Adds the attribute to the data of earlier versions: to schedules, and to actors by a batch of signals that workers
 * handle. Answers the number of actors.
 */
export async function setStoredApart({ client, namespace }: TemporalConnection, taskQueue: string): Promise<number> {
  if (!(await knowsDivisions({ client }))) return 0;
  const query = hostQuery([
    compare('taskQueue', '=', taskQueue),
    oneOf('workflowType', STORED_WORKFLOWS),
    compare('executionStatus', '=', 'Running'),
    isNull('division'),
  ]);
  const { count } = await read({ client }, () => client.workflow.count(query));
  if (count === 0) return 0;
  await setSchedulesApart(client);
  await writeAlong(unaudited({ client }), 'rest', () =>
    client.workflowService.startBatchOperation({
      namespace,
      jobId: `signalbox.set-apart.${ulid()}`,
      visibilityQuery: query,
      reason: 'Stored things are set apart from runs.',
      signalOperation: { signal: SET_APART_SIGNAL, identity: 'signalbox' },
    }),
  );
  return count;
}

/** Each tick of a schedule starts a workflow of its own. */
async function setSchedulesApart(client: Client): Promise<void> {
  for await (const { scheduleId, action } of client.schedule.list()) {
    if (!isScheduleId(scheduleId) || action?.workflowType !== FIRE_WORKFLOW) continue;
    await writeAlong(unaudited({ client }), 'rest', () =>
      client.schedule.getHandle(scheduleId).update(({ action: started, ...rest }) => ({
        ...rest,
        action: { ...started, typedSearchAttributes: [{ key: divisionKey, value: ACTOR_DIVISION }] },
      })),
    );
  }
}
