/**
 * Work whose length the caller decides: reading YAML, checking documents, evaluating expressions, walking and comparing
 * definitions. Each task is a function whose argument can be sent to another thread (worker.ts). Small work is done in
 * the thread of the request (offload.ts). Large values are sent as bytes or text, because a copy node by node takes
 * the sender as long as parsing them.
 */

import { type Checked, type CheckOptions, check, dryRunnable } from '../../check/check.ts';
import { draftGraphOf, type Graph, graphOf } from '../../check/graph.ts';
import { definitionDifference, type VersionDifference } from '../../definition/document/diff.ts';
import { documentOfJson, parseDocument } from '../../definition/document/parse.ts';
import { textToStore } from '../../definition/document/source-text.ts';
import type { Definition } from '../../definition/document/types.ts';
import { hasLoneSurrogate, VettedDocument } from '../../definition/document/vet.ts';
import { type DryRun, dryRun } from '../../history/dry-run.ts';
import type { DryAnswers } from '../../history/dry-run-answers.ts';
import { asJson, isObject, type Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { decodeText, parseJsonText } from '../validation/json-guard.ts';
import { evaluateText } from './evaluation.ts';

/** Facts about the host for the checker. Each thread reads the host's actions itself. */
export type ThreadCheckOptions = Omit<CheckOptions, 'actions'> & {
  /** Answer also the source text to store with the definition. */
  readonly keepsText?: boolean;
};

/** The checker's result for a document, and the slug in the document. */
export interface CheckResult {
  readonly checked: Checked;
  /** The text of a document that is about to be stored, without its clear secrets. */
  readonly text?: string;
  readonly writtenSlug: Json | undefined;
}

export interface DryRunRequest {
  readonly definition: Definition;
  readonly organizationId: string;
  readonly input: Json;
  readonly presets: { readonly [slug: string]: Json };
  readonly answers?: DryAnswers;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The size limits of a run on this host. */
  readonly dataBytes: number;
}

/** Two versions as JSON, and their labels in the text diff. */
interface DiffRequest {
  readonly before: string;
  readonly after: string;
  readonly names: { readonly before: string; readonly after: string };
}

export type Media = 'json' | 'yaml';

export const mediaOfText = (text: string): Media => (/^\s*\{/.test(text) ? 'json' : 'yaml');

export type Task =
  | {
      readonly kind: 'checkBytes';
      readonly bytes: Uint8Array;
      readonly media: Media;
      readonly options: ThreadCheckOptions;
    }
  | {
      readonly kind: 'draft';
      readonly bytes: Uint8Array;
      readonly media: Media;
      readonly options: ThreadCheckOptions;
    }
  /** `documents`: JSON of a list. */
  | { readonly kind: 'check'; readonly documents: string; readonly options: ThreadCheckOptions }
  | { readonly kind: 'evaluate'; readonly bytes: Uint8Array }
  | { readonly kind: 'walk'; readonly of: DryRunRequest }
  | { readonly kind: 'diff'; readonly of: DiffRequest }
  /** `definition`: JSON. */
  | { readonly kind: 'graph'; readonly definition: string };

/** What can be drawn of a document, and what is wrong with it. */
export interface DraftDrawing extends Pick<Checked, 'problems' | 'warnings' | 'hash'> {
  readonly slug: string;
  readonly graph: Graph;
}

export interface Results {
  readonly checkBytes: CheckResult;
  readonly draft: DraftDrawing;
  readonly check: readonly CheckResult[];
  /** JSON. */
  readonly evaluate: string;
  readonly walk: DryRun;
  readonly diff: VersionDifference;
  readonly graph: ReturnType<typeof graphOf>;
}

type Actions = CheckOptions['actions'];

/** @throws HttpProblem if the input is invalid. */
export function runTask(task: Task, actions: Actions): Results[Task['kind']] {
  switch (task.kind) {
    case 'checkBytes':
      return withoutUnusableDefinition(checkDocumentBytes(task.bytes, task.media, task.options, actions));
    case 'draft':
      return drawDraft(readDocument(task.bytes, task.media), task.options, actions);
    case 'check':
      return (JSON.parse(task.documents) as Json[]).map((given) =>
        withoutUnusableDefinition(checkJsonOrText(given, task.options, actions)),
      );
    case 'evaluate':
      return JSON.stringify(evaluateText(task.bytes));
    case 'walk':
      return walkDefinition(task.of);
    case 'diff':
      return diffVersions(task.of);
    case 'graph':
      return graphOf(JSON.parse(task.definition) as Definition);
  }
}

/** Checks a document. @throws HttpProblem `invalid_name`; other problems are in the result. */
export function checkDocument(
  given: Json | VettedDocument,
  options: ThreadCheckOptions,
  actions: Actions,
): CheckResult {
  const document = given instanceof VettedDocument ? given.json : given;
  demandNames(document);
  const checked = check(given, { ...options, ...omitUndefined({ actions }) });
  return { checked, writtenSlug: isObject(document) ? document['slug'] : undefined };
}

/** Reads and checks a document. @throws HttpProblem those of readDocument, and `invalid_name`. */
export function checkDocumentBytes(
  bytes: Uint8Array,
  media: Media,
  options: ThreadCheckOptions,
  actions: Actions,
): CheckResult {
  const result = checkDocument(readDocument(bytes, media), options, actions);
  const { valid, definition, secrets } = result.checked;
  if (options.keepsText !== true || !valid || definition === undefined) return result;
  const text = textToStore(decodeText(bytes), media, options.slug ?? definition.slug, secrets);
  return { ...result, ...omitUndefined({ text }) };
}

/**
 * Checks a document of several: an object, or YAML or JSON as text, which is stored. A text that is no document has
 * problems as any other. @throws HttpProblem `invalid_name`.
 */
export function checkJsonOrText(given: Json, options: ThreadCheckOptions, actions: Actions): CheckResult {
  if (typeof given !== 'string') return checkDocument(given, options, actions);
  try {
    return checkDocumentBytes(Buffer.from(given), mediaOfText(given), { ...options, keepsText: true }, actions);
  } catch (error) {
    const problems = error instanceof HttpProblem ? error.options.problems : undefined;
    if (problems === undefined) throw error;
    const nothing = { valid: false, dialect: 'canonical', problems, warnings: [], secrets: [] } as const;
    return { checked: nothing, writtenSlug: undefined };
  }
}

/** Draws a document, whatever problems it has. @throws HttpProblem `invalid_name`. */
export function drawDraft(document: VettedDocument, options: ThreadCheckOptions, actions: Actions): DraftDrawing {
  const { problems, warnings, hash, definition, draft = {} } = checkDocument(document, options, actions).checked;
  const drawn = definition === undefined ? draft : asJson(definition);
  const { slug } = drawn;
  const isComplete = problems.length === 0;
  return {
    slug: typeof slug === 'string' ? slug : '',
    graph: draftGraphOf(drawn),
    problems,
    warnings,
    ...(isComplete ? omitUndefined({ hash }) : {}),
  };
}

/** Drops a definition that cannot be stored, run or walked, since it may be large. */
function withoutUnusableDefinition({ checked, ...found }: CheckResult): CheckResult {
  const { definition, draft: _draft, ...rest } = checked;
  const isWanted = definition !== undefined && dryRunnable(checked) !== undefined;
  return { checked: isWanted ? checked : rest, ...found };
}

/** Problems of text that is not a document. All other problems are problems of the definition. */
const UNREADABLE: ReadonlySet<string> = new Set([
  'malformed',
  'duplicate_key',
  'unknown_tag',
  'several_documents',
  'empty_document',
  'too_many_aliases',
  'not_json',
  'too_deep',
  'forbidden_key',
  'invalid_name',
]);

/** Parses a document, JSON or YAML. @throws HttpProblem 400 and 422. */
export function readDocument(bytes: Uint8Array, media: Media): VettedDocument {
  const text = decodeText(bytes);
  const parsed = media === 'json' ? documentOfJson(text, parseJsonText(text, 'rounded')) : parseDocument(text);
  if ('document' in parsed) return parsed.document;
  const { problems } = parsed;
  const first = problems[0];
  const detail = `The document cannot be read: ${first?.message ?? 'unknown'}`;
  if (first === undefined || !UNREADABLE.has(first.code))
    throw new HttpProblem('invalid_definition', detail, { problems });
  const code =
    first.code === 'too_deep' || first.code === 'forbidden_key' || first.code === 'invalid_name'
      ? first.code
      : media === 'json'
        ? 'invalid_json'
        : 'invalid_yaml';
  throw new HttpProblem(code, detail, { problems });
}

/** Names go into ids, lists and logs, not all of which hold every character. @throws HttpProblem `invalid_name`. */
function demandNames(document: Json): void {
  if (!isObject(document)) return;
  const { name, slug, tags, triggers } = document;
  const listed = [
    ...(Array.isArray(tags) ? tags : []),
    ...(Array.isArray(triggers) ? triggers.map((one) => (isObject(one) ? (one['name'] ?? '') : '')) : []),
  ];
  for (const text of [name, slug, ...listed]) {
    if (typeof text === 'string' && (text.includes('\0') || hasLoneSurrogate(text))) {
      throw new HttpProblem(
        'invalid_name',
        'A name, slug or tag of the definition holds NUL or half of a surrogate pair.',
      );
    }
  }
}

const MAX_WALK_STEPS = 20_000;
/** Checked between steps. The task's deadline is longer, so a walk that takes too long reports how far it came. */
const WALK_MS = 2_000;

function walkDefinition({ definition, ...options }: DryRunRequest): DryRun {
  const begun = performance.now();
  return dryRun(definition, {
    ...options,
    maxSteps: MAX_WALK_STEPS,
    hasTimedOut: () => performance.now() - begun > WALK_MS,
  });
}

export function diffVersions({ before, after, names }: DiffRequest): VersionDifference {
  return definitionDifference(JSON.parse(before) as Definition, JSON.parse(after) as Definition, names);
}
