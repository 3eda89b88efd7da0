/**
 * Work whose length the caller decides: reading YAML, checking documents, evaluating expressions, walking and comparing
 * definitions. Each task is a function whose argument can be sent to another thread (worker.ts). Small work is done in
 * the thread of the request (in-threads.ts). Large values are sent as bytes or text, because a copy node by node takes
 * the sender as long as parsing them.
 */

import { type Checked, type CheckOptions, check, walkable } from '../../check/check.ts';
import { graphOf } from '../../check/graph.ts';
import { definitionDifference, type VersionDifference } from '../../definition/document/diff.ts';
import { documentOfJson, parseDocument } from '../../definition/document/parse.ts';
import type { Definition } from '../../definition/document/types.ts';
import { hasLoneSurrogate, VettedDocument } from '../../definition/document/vet.ts';
import { type DryRun, dryRun } from '../../history/dry-run.ts';
import { defined } from '../../json/defined.ts';
import { isObject, type Json } from '../../json/json.ts';
import { HttpProblem } from '../validation/http-problem.ts';
import { decodeText, parseJsonText } from '../validation/json-guard.ts';
import { evaluateText } from './evaluation.ts';

/** Facts about the host for the checker. Each thread reads the host's actions itself. */
export type SentCheckOptions = Omit<CheckOptions, 'actions'>;

/** The checker's result for a document, and the slug in the document. */
export interface Found {
  readonly checked: Checked;
  readonly writtenSlug: Json | undefined;
}

export interface Walked {
  readonly definition: Definition;
  readonly organizationId: string;
  readonly input: Json;
  readonly presets: { readonly [slug: string]: Json };
  /** Epoch milliseconds. */
  readonly now: number;
  /** The size limits of a run on this host. */
  readonly dataBytes: number;
}

/** Two versions as JSON, and their labels in the text diff. */
export interface Compared {
  readonly before: string;
  readonly after: string;
  readonly names: { readonly before: string; readonly after: string };
}

export type Media = 'json' | 'yaml';

export type Task =
  | {
      readonly kind: 'checkBytes';
      readonly bytes: Uint8Array;
      readonly media: Media;
      readonly options: SentCheckOptions;
    }
  /** `documents`: JSON of a list. */
  | { readonly kind: 'check'; readonly documents: string; readonly options: SentCheckOptions }
  | { readonly kind: 'evaluate'; readonly bytes: Uint8Array }
  | { readonly kind: 'walk'; readonly of: Walked }
  | { readonly kind: 'diff'; readonly of: Compared }
  /** `definition`: JSON. */
  | { readonly kind: 'graph'; readonly definition: string };

export interface Results {
  readonly checkBytes: Found;
  readonly check: readonly Found[];
  /** JSON. */
  readonly evaluate: string;
  readonly walk: DryRun;
  readonly diff: VersionDifference;
  readonly graph: ReturnType<typeof graphOf>;
}

type Actions = CheckOptions['actions'];

/** @throws HttpProblem if the input is invalid. */
export function perform(task: Task, actions: Actions): Results[Task['kind']] {
  switch (task.kind) {
    case 'checkBytes':
      return lean(found(readDocument(task.bytes, task.media), task.options, actions));
    case 'check':
      return (JSON.parse(task.documents) as Json[]).map((document) => lean(found(document, task.options, actions)));
    case 'evaluate':
      return JSON.stringify(evaluateText(task.bytes));
    case 'walk':
      return walked(task.of);
    case 'diff':
      return compared(task.of);
    case 'graph':
      return graphOf(JSON.parse(task.definition) as Definition);
  }
}

/** Checks a document. @throws HttpProblem `invalid_name`; other problems are in the result. */
export function found(given: Json | VettedDocument, options: SentCheckOptions, actions: Actions): Found {
  const document = given instanceof VettedDocument ? given.json : given;
  demandNames(document);
  const checked = check(given, { ...options, ...defined({ actions }) });
  return { checked, writtenSlug: isObject(document) ? document['slug'] : undefined };
}

/** Drops a definition that cannot be stored, run or walked, since it may be large. */
function lean({ checked, writtenSlug }: Found): Found {
  const { definition, ...rest } = checked;
  const isWanted = definition !== undefined && walkable(checked) !== undefined;
  return { checked: isWanted ? checked : rest, writtenSlug };
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
  const parsed = media === 'json' ? documentOfJson(text, parseJsonText(text)) : parseDocument(text);
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

const MOST_STEPS = 20_000;
/** Checked between steps. The task's deadline is longer, so a walk that takes too long reports how far it came. */
const WALK_MS = 2_000;

function walked({ definition, ...options }: Walked): DryRun {
  const begun = performance.now();
  return dryRun(definition, { ...options, maxSteps: MOST_STEPS, isOver: () => performance.now() - begun > WALK_MS });
}

export function compared({ before, after, names }: Compared): VersionDifference {
  return definitionDifference(JSON.parse(before) as Definition, JSON.parse(after) as Definition, names);
}
