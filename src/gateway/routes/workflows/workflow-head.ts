/** The head of a definition in answers, and the headers and codes that routes of definitions share. */

import { readHead } from '../../../client/versions/definition-head.ts';
import { type DefinitionHead, tagOfHead } from '../../../contract/actors.ts';
import { defined } from '../../../json/defined.ts';
import type { Call } from '../../http/route.ts';
import { type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';

/** `{slug, name, version, hash, enabled, tags, updatedAt}` and a little more (ARCHITECTURE.md §5, "Answers"). */
export function shownHead(
  head: DefinitionHead,
): Omit<DefinitionHead, 'hooks' | 'revision' | 'triggers' | 'triggerSecrets' | 'text'> & { textHash?: string } {
  const { hooks: _hooks, revision: _revision, triggers: _triggers, triggerSecrets: _secrets, text, ...shown } = head;
  return { ...shown, ...defined({ textHash: text?.hash }) };
}

/** The header ETag of a definition. */
export const tagOf = (head: DefinitionHead): { etag: string } => ({ etag: `"${tagOfHead(head)}"` });

/** One tag of an If-Match, weak or not, with the comma after it. */
const LISTED_TAG = /\s*(W\/)?"([^"]*)"\s*(?:,|$)/gy;

/**
 * The tag that an `If-Match` asks for: of several the one that the definition has now, otherwise the first. `*` is
 * itself, and a tag may lack its quotes. A weak tag matches none (RFC 9110, strong comparison): an empty tag stands for
 * it.
 */
export async function ifMatchOf(
  { access, req, principal }: Pick<Call, 'access' | 'req' | 'principal'>,
  slug: string,
): Promise<{ readonly ifMatch?: string }> {
  const header = req.get('if-match')?.trim();
  if (header === undefined) return {};
  const listed = [...header.matchAll(LISTED_TAG)];
  if (listed.map(([text]) => text).join('') !== header) return { ifMatch: header };
  const tags = listed.flatMap(([, weak, tag = '']) => (weak === undefined ? [tag] : []));
  if (tags.length < 2) return { ifMatch: tags[0] ?? '' };
  const head = await readHead(access, principal.organizationId, slug);
  const current = head && tagOfHead(head);
  return { ifMatch: tags.find((tag) => tag === current) ?? tags[0] ?? '' };
}

/** The headers that routes of definitions document. */
export const ETAG = {
  ETag: 'The tag of the definition: its hash, with a part of the hash of its text where one is kept.',
};
export const IF_MATCH = {
  'If-Match':
    'The tag that the stored definition must have, or several tags, of which it must have one. Weak tags never match.',
};

/** The codes of a route that changes a stored definition. */
export const PUT_PROBLEMS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'not_found',
  'hash_mismatch',
  'entry_changed',
  'path_taken',
  'path_reserved',
  'path_resting',
  'invalid_trigger',
  'trigger_exists',
  'payload_too_large',
  'version_missing',
  'too_many',
  'too_large',
];
