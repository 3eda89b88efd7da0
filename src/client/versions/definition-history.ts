/**
 * The history of a definition: its changes, versions and proposals, read from the history of its actor without a
 * worker. The first event has the carried state, and each update's answer has its change
 * (workflows/actors/definition.ts).
 */

import type { temporal } from '@temporalio/proto';
import type {
  DefinitionChange,
  DefinitionStart,
  PutDefinitionAnswer,
  RecordVersionsAnswer,
  RemovedDefinition,
} from '../../contract/actors.ts';
import { type Proposal, proposalAt } from '../../contract/definitions/proposal.ts';
import { versionDigest } from '../../contract/definitions/version-digest.ts';
import { isObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { decodeArrayFromPayloads } from '../../temporal-internals/sdk.ts';
import { hasCode } from '../errors.ts';
import { historyPage } from '../history/page.ts';
import type { Access } from '../temporal/access.ts';
import { definitionId } from '../temporal/ids.ts';
import { tokenPages } from '../temporal/token-pages.ts';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** The answers of the actor's updates. */
type UpdateAnswer = Partial<PutDefinitionAnswer & RecordVersionsAnswer> & Pick<RemovedDefinition, 'proposals'>;

const EVENTS_PER_PAGE = 1_000;

export interface DefinitionHistory {
  /** Newest last. Of very many changes the oldest are removed. */
  readonly changes: readonly DefinitionChange[];
  /** Digests (versionDigest) of the versions that runs may name, also those of removed changes. */
  readonly versions: ReadonlySet<string>;
  /** An actor of a version before 0.4 has removed changes: `olderVersions` finds their versions. */
  readonly lacksOlder: boolean;
  /** The actor's execution before its latest one. */
  readonly continuedFrom?: string;
  /** The proposals in their present state, newest last. */
  readonly proposals: readonly Proposal[];
}

/** Undefined where the definition never existed. The history outlives a deletion. */
export async function readDefinitionHistory(
  access: Access,
  org: string,
  slug: string,
): Promise<DefinitionHistory | undefined> {
  return readExecution(access, org, slug);
}

/**
 * Digests of the versions that earlier executions of the actor had, as far as Temporal still keeps those executions.
 */
export async function olderVersions(
  access: Access,
  org: string,
  slug: string,
  history: DefinitionHistory,
): Promise<ReadonlySet<string>> {
  const versions = new Set<string>();
  let { continuedFrom } = history;
  while (continuedFrom !== undefined) {
    const before = await readExecution(access, org, slug, continuedFrom);
    for (const digest of before?.versions ?? []) versions.add(digest);
    continuedFrom = before?.continuedFrom;
  }
  return versions;
}

async function readExecution(
  access: Access,
  org: string,
  slug: string,
  runId?: string,
): Promise<DefinitionHistory | undefined> {
  const converter = access.client.options.loadedDataConverter;
  const changes: DefinitionChange[] = [];
  const versions = new Set<string>();
  const proposals = new Map<string, Proposal>();
  let lacksOlder = false;
  let continuedFrom: string | undefined;
  try {
    for await (const event of eventsOf(access, { workflowId: definitionId(org, slug), ...omitUndefined({ runId }) })) {
      const begun = event.workflowExecutionStartedEventAttributes;
      if (begun) continuedFrom = begun.continuedExecutionRunId || undefined;
      const started = event.workflowExecutionStartedEventAttributes?.input?.payloads;
      const answered = event.workflowExecutionUpdateCompletedEventAttributes?.outcome?.success?.payloads;
      const [value]: unknown[] = await decodeArrayFromPayloads(converter, started ?? answered);
      if (!isObject(value)) continue;
      if (started) {
        const { carried } = value as unknown as DefinitionStart;
        changes.push(...(carried?.changes ?? []));
        for (const digest of carried?.older ?? []) versions.add(digest);
        lacksOlder = carried !== undefined && (carried.lacksOlder ?? carried.older === undefined);
        for (const proposal of carried?.proposals ?? []) proposals.set(proposal.id, proposal);
      } else {
        const { change, proposal, proposals: ended, recorded } = value as unknown as UpdateAnswer;
        if (typeof ended === 'number') proposals.clear();
        if (recorded !== undefined) {
          for (const digest of recorded) versions.add(digest);
          lacksOlder = false;
        }
        if (change !== undefined) changes.push(change);
        if (proposal !== undefined) proposals.set(proposal.id, proposal);
      }
    }
  } catch (error) {
    if (hasCode(error, 'not_found')) return undefined;
    throw error;
  }
  for (const { hash } of changes) versions.add(versionDigest(hash));
  const now = Date.now();
  return {
    changes,
    versions,
    lacksOlder,
    ...omitUndefined({ continuedFrom }),
    proposals: [...proposals.values()].map((proposal) => proposalAt(proposal, now)),
  };
}

async function* eventsOf(
  access: Access,
  execution: { readonly workflowId: string; readonly runId?: string },
): AsyncGenerator<HistoryEvent> {
  const pages = tokenPages((nextPageToken) =>
    historyPage(access, { execution, maximumPageSize: EVENTS_PER_PAGE, nextPageToken }),
  );
  for await (const page of pages) yield* page.history?.events ?? [];
}
