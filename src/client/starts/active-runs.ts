/**
 * Runs that are active when a limit is switched on. They count, although they never asked for a slot. A process lists
 * them once for each limit, because later runs ask by themselves.
 */

import { type ActiveRun, type AppliedLimit, MAX_LIMITER_ENTRIES } from '../../contract/limits/limiter.ts';
import { RUN_WORKFLOW, type RunMemo } from '../../contract/run/run.ts';
import type { Definition } from '../../definition/document/types.ts';
import { definitionLimits } from '../../engine/state/definition-limits.ts';
import { restore } from '../../engine/state/serialize.ts';
import { runInputOf } from '../../engine/state/start.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { eachConcurrently } from '../concurrency/each-concurrently.ts';
import { onCode } from '../errors.ts';
import { firstRunId, readArgument } from '../history/start-and-close-events.ts';
import { userLimiterId, userOf } from '../organization/limits.ts';
import { all, type Clause, compare, hostQuery, queryOf } from '../search-attributes/query.ts';
import type { Access } from '../temporal/access.ts';
import { describe } from '../temporal/actor-calls.ts';
import { perClient } from '../temporal/per-client.ts';
import { listPage, type Row } from '../visibility/listing.ts';
import { pagesOf } from '../visibility/pages.ts';

/** A run that has not started yet. */
export interface UnstartedRun {
  readonly definition: Definition;
  readonly hash?: string;
}

interface Started extends UnstartedRun {
  readonly input: Json;
  readonly gates: readonly AppliedLimit[];
}

/** An active run, and the limiters that apply to it. */
interface Candidate extends ActiveRun {
  readonly gates: readonly string[];
}

const PAGE_SIZE = 1_000;
const MAX_CACHED_LIMITS = 200;
const cacheOf = perClient(() => new BoundedMap<string, Promise<readonly Candidate[]>>(MAX_CACHED_LIMITS));

/**
 * The runs under the limit that began before it and are still active. `unstarted` defaults to the input of `run`.
 * `endedAmong` answers which of some runs have ended.
 */
export async function activeRunsUnder(
  access: Access,
  org: string,
  { gate, scope, basis = '' }: AppliedLimit,
  { run, unstarted }: { readonly run: string; readonly unstarted: UnstartedRun | undefined },
  endedAmong: (runs: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<readonly ActiveRun[]> {
  const cache = cacheOf(access);
  const requester = scope === 'workflow' ? (unstarted ?? (await inputOf(access, run))) : undefined;
  const key = JSON.stringify([scope, org, requester?.definition.slug ?? '', basis]);
  const listing = cache.get(key) ?? listCandidates(access, org, scope, requester);
  cache.set(key, listing);
  try {
    const listed = await listing;
    const isWide = scope === 'global' || scope === 'organization';
    const under = listed.filter((one) => one.run !== run && (isWide || one.gates.includes(gate)));
    const ended = await endedAmong(under.map((one) => one.run));
    if (ended.size > 0) cache.set(key, Promise.resolve(listed.filter((one) => !ended.has(one.run))));
    return under.filter((one) => !ended.has(one.run)).map((one) => ({ run: one.run, startedAt: one.startedAt }));
  } catch (error) {
    cache.delete(key);
    throw error;
  }
}

async function listCandidates(
  access: Access,
  org: string,
  scope: AppliedLimit['scope'],
  requester: UnstartedRun | undefined,
): Promise<readonly Candidate[]> {
  const clauses: Clause[] = [compare('executionStatus', '=', 'Running')];
  if (scope !== 'workflow')
    clauses.push(compare('triggerType', '!=', 'subworkflow'), compare('triggerType', '!=', 'temporal'));
  if (requester !== undefined) clauses.push(compare('workflow', '=', requester.definition.slug));
  const query =
    scope === 'global'
      ? hostQuery([compare('workflowType', '=', RUN_WORKFLOW), all(...clauses)])
      : queryOf(org, RUN_WORKFLOW, clauses);
  const found: Candidate[] = [];
  for await (const rows of pagesOf(PAGE_SIZE, (request) => listPage(access, query, request))) {
    await eachConcurrently(rows, async (row) => {
      // A pending run may wait for this slot, and requests it itself; or for another one, and never requests this one.
      const requestsItself =
        requester === undefined && row.memo['status'] === 'pending' && (await requestsScope(access, row, scope));
      const gates =
        requester === undefined ? userLimitersOf(org, row) : await limitersUnder(access, org, row, requester);
      if (gates !== undefined && !requestsItself)
        found.push({ run: row.workflowId, startedAt: row.startTime.getTime(), gates });
    });
    if (found.length >= MAX_LIMITER_ENTRIES) break;
  }
  return found;
}

function userLimitersOf(org: string, { memo }: Row): readonly string[] {
  const { trigger, initiator, owner } = memo as Partial<RunMemo>;
  if (trigger === undefined) return [];
  const person = userOf({
    trigger,
    ...omitUndefined({ initiator, owner }),
  });
  return person === undefined ? [] : [userLimiterId(org, person)];
}

/** Whether the run asks limiters of the scope by itself. */
async function requestsScope(access: Access, { workflowId }: Row, scope: AppliedLimit['scope']): Promise<boolean> {
  const asked = (await inputOf(access, workflowId))?.gates ?? [];
  return asked.some((gate) => gate.scope === scope);
}

/**
 * The limiters that apply to a run of another version under the requester's limits. Undefined for a run that requests
 * them itself.
 */
async function limitersUnder(
  access: Access,
  org: string,
  { workflowId, memo }: Row,
  { definition, hash }: UnstartedRun,
): Promise<readonly string[] | undefined> {
  if (hash !== undefined && memo['hash'] === hash) return undefined;
  const started = await inputOf(access, workflowId);
  if (started === undefined) return undefined;
  const { concurrency, mode, debounce } = definition.config ?? {};
  const { definition: own, input } = started;
  const limiterIdsOf = (config: Definition['config']) =>
    definitionLimits({ organizationId: org, definition: { ...own, config: config ?? {} }, input }).map(
      ({ gate }) => gate,
    );
  const asked = limiterIdsOf(own.config);
  const limited = {
    ...own.config,
    ...omitUndefined({ concurrency, mode, debounce }),
  };
  return limiterIdsOf(limited).filter((gate) => !asked.includes(gate));
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
  return { definition, input, gates, ...omitUndefined({ hash }) };
}
