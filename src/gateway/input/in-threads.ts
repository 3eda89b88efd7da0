/**
 * Small work is done in this thread, since its size or its limit of work bounds the time. Other work goes to a thread
 * of the pool.
 */

import { graphOf } from '../../check/graph.ts';
import type { VersionDifference } from '../../definition/document/diff.ts';
import type { Definition } from '../../definition/document/types.ts';
import type { DryRun } from '../../history/dry-run.ts';
import type { Json } from '../../json/json.ts';
import type { Gateway } from '../http/context.ts';
import { evaluateText } from '../threads/evaluation.ts';
import {
  compared,
  type Found,
  found,
  type Media,
  type Results,
  readDocument,
  type SentCheckOptions,
  type Walked,
} from '../threads/tasks.ts';
import { HttpProblem } from '../validation/http-problem.ts';

/** Documents up to here are read and checked in some tens of milliseconds at most (test/gateway/offload.test.ts). */
export const SMALL_DOCUMENT_BYTES = 4 * 1024;
/** Bodies up to here are parsed in a few milliseconds, */
const SMALL_EVALUATION_BYTES = 32 * 1024;
/** and evaluated as long as this lasts, which is a few milliseconds as well. */
const SMALL_WORK = 50_000;

/** The document that bytes hold, checked. @throws HttpProblem as readDocument, `invalid_name`, and of the pool. */
export async function checkBytesIn(
  { offload, actions }: Gateway,
  organizationId: string,
  bytes: Uint8Array,
  media: Media,
  options: SentCheckOptions,
): Promise<Found> {
  if (bytes.length <= SMALL_DOCUMENT_BYTES) return found(readDocument(bytes, media), options, actions);
  return offload.run(organizationId, { kind: 'checkBytes', bytes, media, options });
}

/** Each document in its place. @throws HttpProblem `invalid_name`, and of the pool. */
export async function checkIn(
  { offload, actions }: Gateway,
  organizationId: string,
  documents: readonly Json[],
  options: SentCheckOptions,
): Promise<readonly Found[]> {
  const text = JSON.stringify(documents);
  if (text.length <= SMALL_DOCUMENT_BYTES) return documents.map((document) => found(document, options, actions));
  return offload.run(organizationId, { kind: 'check', documents: text, options });
}

/** The value as JSON. @throws HttpProblem as evaluateText, and of the pool. */
export async function evaluateIn({ offload }: Gateway, organizationId: string, bytes: Uint8Array): Promise<string> {
  if (bytes.length <= SMALL_EVALUATION_BYTES) {
    try {
      return JSON.stringify(evaluateText(bytes, SMALL_WORK));
    } catch (error) {
      // Whether that is its own limit, or that of what is done at once, is found out elsewhere.
      if (!(error instanceof HttpProblem && error.code === 'expression_limit')) throw error;
    }
  }
  return offload.run(organizationId, { kind: 'evaluate', bytes });
}

/** A walk takes as long as its steps say, however small its definition is. @throws HttpProblem of the pool. */
export const walkIn = ({ offload }: Gateway, of: Walked): Promise<DryRun> =>
  offload.run(of.organizationId, { kind: 'walk', of });

/** What leads from one version to the other. @throws HttpProblem of the pool. */
export async function compareIn(
  { offload }: Gateway,
  organizationId: string,
  versions: readonly [before: Definition, after: Definition],
  names: { readonly before: string; readonly after: string },
): Promise<VersionDifference> {
  const [before, after] = versions.map((version) => JSON.stringify(version)) as [string, string];
  const of = { before, after, names };
  if (before.length + after.length <= 2 * SMALL_DOCUMENT_BYTES) return compared(of);
  return offload.run(organizationId, { kind: 'diff', of });
}

/** Nodes and edges of a definition, or its problems. @throws HttpProblem of the pool. */
export async function graphIn(
  { offload }: Gateway,
  organizationId: string,
  given: Definition,
): Promise<Results['graph']> {
  const definition = JSON.stringify(given);
  if (definition.length <= SMALL_DOCUMENT_BYTES) return graphOf(given);
  return offload.run(organizationId, { kind: 'graph', definition });
}
