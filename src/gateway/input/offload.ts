/**
 * Offloads work to the threads of the pool. Small work is done in this thread, since its size or its limit of work
 * bounds the time.
 */

import { graphOf } from '../../check/graph.ts';
import type { VersionDifference } from '../../definition/document/diff.ts';
import type { Definition } from '../../definition/document/types.ts';
import type { DryRun } from '../../history/dry-run.ts';
import type { Json } from '../../json/json.ts';
import type { Gateway } from '../http/context.ts';
import { evaluateText } from '../threads/evaluation.ts';
import {
  type CheckResult,
  checkDocumentBytes,
  checkJsonOrText,
  type DraftDrawing,
  type DryRunRequest,
  diffVersions,
  drawDraft,
  type Media,
  type Results,
  readDocument,
  type ThreadCheckOptions,
} from '../threads/tasks.ts';
import { HttpProblem } from '../validation/http-problem.ts';

/** Documents up to this size are read and checked within tens of milliseconds (test/gateway/threads.test.ts). */
export const SMALL_DOCUMENT_BYTES = 4 * 1024;
/** Bodies up to this size are parsed within a few milliseconds. */
const SMALL_EVALUATION_BYTES = 32 * 1024;
/** The work limit of an evaluation in this thread, which takes a few milliseconds as well. */
const SMALL_WORK = 50_000;

/** Reads and checks a document. @throws HttpProblem those of readDocument and of the pool, and `invalid_name`. */
export async function offloadByteCheck(
  { offload, actions }: Gateway,
  organizationId: string,
  bytes: Uint8Array,
  media: Media,
  options: ThreadCheckOptions,
): Promise<CheckResult> {
  if (bytes.length <= SMALL_DOCUMENT_BYTES) return checkDocumentBytes(bytes, media, options, actions);
  return offload.run(organizationId, { kind: 'checkBytes', bytes, media, options });
}

/** Draws a document that may have problems. @throws HttpProblem those of readDocument and of the pool. */
export async function offloadDraft(
  { offload, actions }: Gateway,
  organizationId: string,
  bytes: Uint8Array,
  media: Media,
  options: ThreadCheckOptions,
): Promise<DraftDrawing> {
  if (bytes.length <= SMALL_DOCUMENT_BYTES) return drawDraft(readDocument(bytes, media), options, actions);
  return offload.run(organizationId, { kind: 'draft', bytes, media, options });
}

/**
 * Checks documents, objects or texts; results have their order.
 * @throws HttpProblem `invalid_name`, and those of the pool.
 */
export async function offloadChecks(
  { offload, actions }: Gateway,
  organizationId: string,
  documents: readonly Json[],
  options: ThreadCheckOptions,
): Promise<readonly CheckResult[]> {
  const text = JSON.stringify(documents);
  if (text.length <= SMALL_DOCUMENT_BYTES) return documents.map((given) => checkJsonOrText(given, options, actions));
  return offload.run(organizationId, { kind: 'check', documents: text, options });
}

/** The value as JSON. @throws HttpProblem as evaluateText, and of the pool. */
export async function offloadEvaluation(
  { offload }: Gateway,
  organizationId: string,
  bytes: Uint8Array,
): Promise<string> {
  if (bytes.length <= SMALL_EVALUATION_BYTES) {
    try {
      return JSON.stringify(evaluateText(bytes, SMALL_WORK));
    } catch (error) {
      // The limit may be the expression's own or only SMALL_WORK. The pool evaluates again to find out.
      if (!(error instanceof HttpProblem && error.code === 'expression_limit')) throw error;
    }
  }
  return offload.run(organizationId, { kind: 'evaluate', bytes });
}

/** Always in the pool: even a small definition can walk for long. @throws HttpProblem those of the pool. */
export const offloadDryRun = ({ offload }: Gateway, of: DryRunRequest): Promise<DryRun> =>
  offload.run(of.organizationId, { kind: 'walk', of });

/** The difference between two versions. @throws HttpProblem those of the pool. */
export async function offloadDiff(
  { offload }: Gateway,
  organizationId: string,
  versions: readonly [before: Definition, after: Definition],
  names: { readonly before: string; readonly after: string },
): Promise<VersionDifference> {
  const [before, after] = versions.map((version) => JSON.stringify(version)) as [string, string];
  const of = { before, after, names };
  if (before.length + after.length <= 2 * SMALL_DOCUMENT_BYTES) return diffVersions(of);
  return offload.run(organizationId, { kind: 'diff', of });
}

/** Nodes and edges of a definition, or its problems. @throws HttpProblem those of the pool. */
export async function offloadGraph(
  { offload }: Gateway,
  organizationId: string,
  given: Definition,
): Promise<Results['graph']> {
  const definition = JSON.stringify(given);
  if (definition.length <= SMALL_DOCUMENT_BYTES) return graphOf(given);
  return offload.run(organizationId, { kind: 'graph', definition });
}
