/**
 * Shows a run to others without a query: search attributes for lists, the memo for `describe()`, current details for
 * Temporal's Web UI. They are written when the run begins to wait, continues or ends, and only where a value differs,
 * since each write is an event of history.
 */

import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { RunInput, RunMemo, RunStatus, WaitingFor } from '../../src/contract/run/run.ts';
import {
  ATTRIBUTES,
  attributeValue,
  attributeValues,
  modelValue,
  withDecisions,
} from '../../src/contract/search-attributes.ts';
import { sampleOf } from '../../src/definition/payload/format-sample.ts';
import { admit } from '../../src/engine/advance.ts';
import {
  pausedSince,
  searchable,
  unreadCount,
  waitCount,
  waitingTags,
  waitingFor as waitsOf,
} from '../../src/engine/inbound/view.ts';
import { tokensOf } from '../../src/engine/state/costs.ts';
import { MAX_SHOWN_WAITS } from '../../src/engine/state/limits.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { asJson } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { describeRun, type RefusedRequest } from './current-details.ts';

/** A memo above this gets a shorter list of waits. The server warns at 2 KB. */
const MAX_MEMO_BYTES = 16_000;
/** A larger output is not in the memo; readers take it from the run's history. */
const MAX_MEMO_OUTPUT_BYTES = 8_000;
const MAX_SHOWN_TEXT = 200;

const { KEYWORD, KEYWORD_LIST, DATETIME, INT } = SearchAttributeType;
export const runAttributeKeys = {
  org: defineSearchAttributeKey(ATTRIBUTES.org, KEYWORD),
  workflow: defineSearchAttributeKey(ATTRIBUTES.workflow, KEYWORD),
  status: defineSearchAttributeKey(ATTRIBUTES.status, KEYWORD),
  triggerType: defineSearchAttributeKey(ATTRIBUTES.triggerType, KEYWORD),
  trigger: defineSearchAttributeKey(ATTRIBUTES.trigger, KEYWORD),
  employee: defineSearchAttributeKey(ATTRIBUTES.employee, KEYWORD),
  tags: defineSearchAttributeKey(ATTRIBUTES.tags, KEYWORD_LIST),
  state: defineSearchAttributeKey(ATTRIBUTES.state, KEYWORD_LIST),
  waiting: defineSearchAttributeKey(ATTRIBUTES.waiting, KEYWORD_LIST),
  started: defineSearchAttributeKey(ATTRIBUTES.started, DATETIME),
  durationMs: defineSearchAttributeKey(ATTRIBUTES.durationMs, INT),
  model: defineSearchAttributeKey(ATTRIBUTES.model, KEYWORD),
  tokens: defineSearchAttributeKey(ATTRIBUTES.tokens, INT),
} as const;

export interface RunView {
  readonly status: RunStatus;
  readonly waitingFor: readonly WaitingFor[];
}

/**
 * Writes attributes and memo where they differ from `shown`. `ended`: of the memo only costs and dropped messages,
 * since readers of a closed run take its status from Temporal.
 */
export function upsertVisibility(
  program: Program,
  input: RunInput,
  state: RunState,
  shown: RunView,
  ended: boolean,
): void {
  const pairs = attributesOf(program, state, shown);
  if (ended) pairs.push({ key: runAttributeKeys.durationMs, value: Math.max(0, Date.now() - state.genesis.startedAt) });
  const changed = pairs.filter(
    ({ key, value }) => !isSameAttribute(workflowInfo().typedSearchAttributes.get(key), value),
  );
  if (changed.length > 0) upsertSearchAttributes(changed);
  // To Temporal an aborted run has failed: only the memo shows the difference.
  if (ended && shown.status === 'aborted') upsertMemo({ status: shown.status });
  const memo = ended ? { ...costsOf(state), ...droppedOf(state) } : memoOf(program, input, state, shown);
  const before = workflowInfo().memo ?? {};
  const fresh = Object.entries(memo).filter(
    ([key, value]) =>
      value !== undefined && !isSameJson(before[key], value) && !isKnownEmpty(input, before[key], value),
  );
  if (fresh.length > 0) upsertMemo(Object.fromEntries(fresh));
}

/** Whether the memo says by the absence of a list that it is empty. Runs of earlier versions write empty lists. */
const isKnownEmpty = ({ shown }: RunInput, before: unknown, value: unknown): boolean =>
  shown === true && before === undefined && Array.isArray(value) && value.length === 0;

/** Shows in Temporal's Web UI what the run waits for and how to answer. This is no command, so it adds no event. */
export function showDetails(program: Program, state: RunState, shown: RunView, refused?: RefusedRequest): void {
  const { workflowId, namespace } = workflowInfo();
  const since = pausedSince(state);
  setCurrentDetails(
    describeRun(
      program.definition,
      { id: workflowId, namespace },
      {
        ...shown,
        waits: waitCount(state),
        ...omitUndefined({ pausedSince: since }),
        ...droppedOf(state),
        ...omitUndefined({ refused }),
        toApprove: (path) => approvalAnswer(program, state, path),
      },
    ),
  );
}

function attributesOf(program: Program, state: RunState, shown: RunView): SearchAttributePair[] {
  const { genesis } = state;
  const pairs: SearchAttributePair[] = [
    { key: runAttributeKeys.org, value: attributeValue(genesis.organizationId) },
    { key: runAttributeKeys.workflow, value: attributeValue(program.definition.slug) },
    { key: runAttributeKeys.status, value: shown.status },
    { key: runAttributeKeys.triggerType, value: attributeValue(genesis.trigger.type) },
    // The client that started the run has set it. The difference is milliseconds, and not worth an event.
    {
      key: runAttributeKeys.started,
      value: workflowInfo().typedSearchAttributes.get(runAttributeKeys.started) ?? new Date(genesis.startedAt),
    },
  ];
  if (genesis.trigger.id !== undefined)
    pairs.push({ key: runAttributeKeys.trigger, value: attributeValue(genesis.trigger.id) });
  if (state.model !== undefined) pairs.push({ key: runAttributeKeys.model, value: attributeValue(state.model) });
  if (state.costs !== undefined) pairs.push({ key: runAttributeKeys.tokens, value: tokensOf(state.costs) });
  // An empty list is worth an event only where there was a value.
  const lists = [
    { key: runAttributeKeys.tags, value: attributeValues(program.definition.tags ?? []) },
    {
      key: runAttributeKeys.state,
      value: withDecisions(
        [...(state.models ?? []).map(modelValue), ...searchable(program, state)],
        state.decided ?? [],
      ),
    },
    { key: runAttributeKeys.waiting, value: attributeValues(waitingTags(state)) },
  ];
  for (const list of lists) {
    if (list.value.length > 0 || workflowInfo().typedSearchAttributes.get(list.key) !== undefined) pairs.push(list);
  }
  return pairs;
}

function memoOf(program: Program, input: RunInput, state: RunState, shown: RunView): RunMemo {
  const { definition } = program;
  const { genesis } = state;
  const { type, id } = genesis.trigger;
  const { waitingFor } = shown;
  const memo = (waits: number): RunMemo => ({
    workflow: definition.slug,
    ...omitUndefined({ version: definition.version, hash: input.hash }),
    organizationId: genesis.organizationId,
    status: shown.status,
    waitingFor: waitingFor.slice(0, waits).map(shortened),
    unread: unreadCount(state),
    ...droppedOf(state),
    ...pauseOf(state),
    trigger: id === undefined ? { type } : { type, id },
    startedAt: memoStartedAt(genesis.startedAt),
    ...decidedOf(state),
    ...omitUndefined({ inline: input.inline, initiator: input.initiator, parentId: input.parentId }),
    ...costsOf(state),
  });
  const full = memo(MAX_SHOWN_WAITS);
  return jsonBytes(asJson(full)) <= MAX_MEMO_BYTES ? full : memo(1);
}

/** The result of a run that has returned and drains. Its status changes then, so the run is shown once more. */
function decidedOf({ draining }: RunState): Pick<RunMemo, 'decided'> {
  if (draining?.decidedAt === undefined) return {};
  const at = new Date(draining.decidedAt).toISOString();
  const isSmall = jsonBytes(draining.output) <= MAX_MEMO_OUTPUT_BYTES;
  return { decided: { at, ...(isSmall ? { output: draining.output } : {}) } };
}

/** What has changed of it. */
function pauseOf(state: RunState): Pick<RunMemo, 'paused'> {
  const memoValue = workflowInfo().memo?.['paused'] ?? null;
  const since = pausedSince(state) ?? null;
  const isCurrent = (memoValue === null) === (since === null);
  return isCurrent ? {} : { paused: since };
}

/** How many messages the full inbox has dropped. Absent where there are none. */
function droppedOf({ droppedCount: dropped }: RunState): Pick<RunMemo, 'dropped'> {
  return dropped === undefined ? {} : { dropped };
}

/** The part of the memo that the end of the run may change, besides `dropped`. */
function costsOf({ costs }: RunState): Pick<RunMemo, 'costs'> {
  return costs === undefined ? {} : { costs };
}

function memoStartedAt(ms: number): string {
  const memoValue = workflowInfo().memo?.['startedAt'];
  return typeof memoValue === 'string' ? memoValue : new Date(ms).toISOString();
}

function shortened(wait: WaitingFor): WaitingFor {
  const { message } = wait;
  return message === undefined || message.length <= MAX_SHOWN_TEXT
    ? wait
    : { ...wait, message: `${message.slice(0, MAX_SHOWN_TEXT)}…` };
}

/** Whether the attribute has the value, perhaps as an earlier version wrote it. */
const isSameAttribute = (before: unknown, value: unknown): boolean =>
  isSameJson(before, value) || isSameJson(normalizedAttribute(before), value);

function normalizedAttribute(value: unknown): unknown {
  if (typeof value === 'string') return attributeValue(value);
  return Array.isArray(value) ? attributeValues(value.map(String)) : value;
}

/** Values of attributes and memos: JSON, and dates. */
function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

const COMMENTS = { comments: '<why>' };
const OVERRIDE = { override: true, reason: '<why>' };
const APPROVE_VARIANTS: readonly object[] = [{}, COMMENTS, OVERRIDE, { ...OVERRIDE, ...COMMENTS }];

/**
 * An example of the signal `approve` for an approval that waits. The core is asked, so the example is accepted.
 *
 * Members of `approve` in addition to `step`: the fewest that the run accepts. For an approval with a form they contain
 * an example of its data; a person replaces the values.
 */
function approvalAnswer(program: Program, state: RunState, path: string): object {
  const accepts = (members: object): boolean => {
    const answer = admit(program, state, {
      type: 'decide',
      at: state.now,
      step: path,
      decision: 'approved',
      via: 'temporal',
      ...members,
    });
    return 'accepted' in answer;
  };
  const { form } = waitsOf(state).find((wait) => wait.path === path) ?? {};
  const data = form === undefined ? {} : sampleOf(form);
  const withData = APPROVE_VARIANTS.map((members) => ({ ...members, data }));
  return (form === undefined ? [...APPROVE_VARIANTS, ...withData] : withData).find(accepts) ?? { data };
}
