/**
 * The history of a definition: its changes and its proposals, read from the history of its actor without a worker. The
 * first event has the carried state, and each update's answer has its change (workflows/actors/definition.ts).
 */

import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { temporal } from '@temporalio/proto';
import type {
  DefinitionChange,
  DefinitionStart,
  PutDefinitionAnswer,
  RemovedDefinition,
} from '../../contract/actors.ts';
import { type Proposal, proposalAt } from '../../contract/proposal.ts';
import { isObject } from '../../json/json.ts';
import { hasCode } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { historyPage } from '../temporal/history-page.ts';
import { definitionId } from '../temporal/ids.ts';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** The answers of the actor's updates. */
type Answered = Partial<PutDefinitionAnswer> & Pick<RemovedDefinition, 'proposals'>;

const EVENTS_PER_PAGE = 1_000;

export interface DefinitionHistory {
  /** Newest last. Of very many changes the oldest are removed. Their versions stay. */
  readonly changes: readonly DefinitionChange[];
  /** The proposals in their present state, newest last. */
  readonly proposals: readonly Proposal[];
}

/** Undefined where the definition never existed. The history outlives a deletion. */
export async function readDefinitionHistory(
  access: Access,
  org: string,
  slug: string,
): Promise<DefinitionHistory | undefined> {
  const converter = access.client.options.loadedDataConverter;
  const changes: DefinitionChange[] = [];
  const proposals = new Map<string, Proposal>();
  try {
    for await (const event of eventsOf(access, definitionId(org, slug))) {
      const started = event.workflowExecutionStartedEventAttributes?.input?.payloads;
      const answered = event.workflowExecutionUpdateCompletedEventAttributes?.outcome?.success?.payloads;
      const [value]: unknown[] = await decodeArrayFromPayloads(converter, started ?? answered);
      if (!isObject(value)) continue;
      if (started) {
        const { carried } = value as unknown as DefinitionStart;
        changes.push(...(carried?.changes ?? []));
        for (const proposal of carried?.proposals ?? []) proposals.set(proposal.id, proposal);
      } else {
        const { change, proposal, proposals: ended } = value as unknown as Answered;
        if (typeof ended === 'number') proposals.clear();
        if (change !== undefined) changes.push(change);
        if (proposal !== undefined) proposals.set(proposal.id, proposal);
      }
    }
  } catch (error) {
    if (hasCode(error, 'not_found')) return undefined;
    throw error;
  }
  const now = Date.now();
  return { changes, proposals: [...proposals.values()].map((proposal) => proposalAt(proposal, now)) };
}

async function* eventsOf(access: Access, workflowId: string): AsyncGenerator<HistoryEvent> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await historyPage(access, {
      namespace: access.namespace,
      execution: { workflowId },
      maximumPageSize: EVENTS_PER_PAGE,
      nextPageToken,
    });
    yield* page.history?.events ?? [];
    nextPageToken = page.nextPageToken ?? new Uint8Array();
  } while (nextPageToken.length > 0);
}
