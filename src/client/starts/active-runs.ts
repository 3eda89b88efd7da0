/**
 * Runs that are active when a limit is switched on. They count, although they never asked for a slot. A process lists
 * them once for each limit, because later runs ask by themselves.
 */

import { type ActiveRun, type GateWanted, MOST_HELD } from '../../contract/limiter.ts';
import { RUN_WORKFLOW, type RunMemo } from '../../contract/run.ts';
import type { Definition } from '../../definition/document/types.ts';
import { definitionGates } from '../../engine/state/gates.ts';
import { restore } from '../../engine/state/serialize.ts';
import { runInputOf } from '../../engine/state/start.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { defined } from '../../json/defined.ts';
import type { Json } from '../../json/json.ts';
import { onCode } from '../errors.ts';
import { userLimiterId, userOf } from '../organization/limits.ts';
import type { Access } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { eachConcurrently } from '../temporal/each-concurrently.ts';
import { firstRunId, readArgument } from '../temporal/first-event.ts';
import { perClient } from '../temporal/per-client.ts';
import { all, type Clause, compare, hostQuery, queryOf } from '../temporal/query.ts';
import { listPage, type Row } from '../visibility/listing.ts';
import { pagesOf } from '../visibility/pages.ts';

/** A run that has not started yet. */
export interface Asking {
  readonly definition: Definition;
  readonly hash?: string;
}

interface Started extends Asking {
  readonly input: Json;
  readonly gates: readonly GateWanted[];
}

/** An active run, and the limiters that apply to it. */
interface Candidate extends ActiveRun {
  readonly gates: readonly string[];
}

const ROWS = 1_000;
const MOST_LIMITS = 200;
const keptBy = perClient(() => new BoundedMap<string, Promise<readonly Candidate[]>>(MOST_LIMITS));

/**
 * The runs under the limit that began before it and are still active. `asking` defaults to the input of the asking run.
 * `endedAmong` tells which of some runs have ended.
 */
export async function activeUnder(
  access: Access,
  org: string,
  { gate, scope, basis = '' }: GateWanted,
  { run, asking }: { readonly run: string; readonly asking: Asking | undefined },
  endedAmong: (runs: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<readonly ActiveRun[]> {
  const known = keptBy(access);
  const asker = scope === 'workflow' ? (asking ?? (await inputOf(access, run))) : undefined;
  const key = JSON.stringify([scope, org, asker?.definition.slug ?? '', basis]);
  const listing = known.get(key) ?? candidates(access, org, scope, asker);
  known.set(key, listing);
  try {
    const listed = await listing;
    const isWide = scope === 'global' || scope === 'organization';
    const under = listed.filter((one) => one.run !== run && (isWide || one.gates.includes(gate)));
    const ended = await endedAmong(under.map((one) => one.run));
    if (ended.size > 0) known.set(key, Promise.resolve(listed.filter((one) => !ended.has(one.run))));
    return under.filter((one) => !ended.has(one.run)).map((one) => ({ run: one.run, startedAt: one.startedAt }));
  } catch (error) {
    known.delete(key);
    throw error;
  }
}

async function candidates(
  access: Access,
  org: string,
  scope: GateWanted['scope'],
  asker: Asking | undefined,
): Promise<readonly Candidate[]> {
  const clauses: Clause[] = [compare('executionStatus', '=', 'Running')];
  if (scope !== 'workflow')
    clauses.push(compare('triggerType', '!=', 'subworkflow'), compare('triggerType', '!=', 'temporal'));
  if (asker !== undefined) clauses.push(compare('workflow', '=', asker.definition.slug));
  const query =
    scope === 'global'
      ? hostQuery([compare('workflowType', '=', RUN_WORKFLOW), all(...clauses)])
      : queryOf(org, RUN_WORKFLOW, clauses);
  const found: Candidate[] = [];
  for await (const rows of pagesOf(ROWS, (request) => listPage(access, query, request))) {
    await eachConcurrently(rows, async (row) => {
      // A pending run may wait for this slot, and asks by itself; or for another one, and will never ask for this.
      const asks = asker === undefined && row.memo['status'] === 'pending' && (await asksFor(access, row, scope));
      const gates = asker === undefined ? userGatesOf(org, row) : await gatesUnder(access, org, row, asker);
      if (gates !== undefined && !asks) found.push({ run: row.workflowId, startedAt: row.startTime.getTime(), gates });
    });
    if (found.length >= MOST_HELD) break;
  }
  return found;
}

function userGatesOf(org: string, { memo }: Row): readonly string[] {
  const { trigger, initiator, owner } = memo as Partial<RunMemo>;
  if (trigger === undefined) return [];
  const person = userOf({
    trigger,
    ...defined({ initiator, owner }),
  });
  return person === undefined ? [] : [userLimiterId(org, person)];
}

/** Whether the run asks limiters of the scope by itself. */
async function asksFor(access: Access, { workflowId }: Row, scope: GateWanted['scope']): Promise<boolean> {
  const asked = (await inputOf(access, workflowId))?.gates ?? [];
  return asked.some((gate) => gate.scope === scope);
}

/**
 * The limiters that the asker's limits would be for a run of another version. Undefined for a run that asks by itself.
 */
async function gatesUnder(
  access: Access,
  org: string,
  { workflowId, memo }: Row,
  { definition, hash }: Asking,
): Promise<readonly string[] | undefined> {
  if (hash !== undefined && memo['hash'] === hash) return undefined;
  const started = await inputOf(access, workflowId);
  if (started === undefined) return undefined;
  const { concurrency, mode, debounce } = definition.config ?? {};
  const { definition: own, input } = started;
  const gatesOf = (config: Definition['config']) =>
    definitionGates({ organizationId: org, definition: { ...own, config: config ?? {} }, input }).map(
      ({ gate }) => gate,
    );
  const asked = gatesOf(own.config);
  const limited = {
    ...own.config,
    ...defined({ concurrency, mode, debounce }),
  };
  return gatesOf(limited).filter((gate) => !asked.includes(gate));
}

/** The argument of a run, whatever its status. */
async function inputOf(access: Access, workflowId: string): Promise<Started | undefined> {
  const description = await describe(access, workflowId);
  if (description === undefined) return undefined;
  const argument = readArgument<unknown>(access, workflowId, firstRunId(description));
  const started = runInputOf(await argument.catch(onCode('not_found', () => undefined)));
  if (started === undefined) return undefined;
  const { definition, hash, carried } = started;
  const { input = {}, gates = [] } = carried === undefined ? started : restore(carried).genesis;
  return { definition, input, gates, ...defined({ hash }) };
}
