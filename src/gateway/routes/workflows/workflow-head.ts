/** The head of a definition in answers, and the headers and codes that routes of definitions share. */
import { type DefinitionHead, tagOfHead } from '../../../contract/actors.ts';
import { defined } from '../../../json/defined.ts';
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

/** The tag of an If-Match, quoted or not; `*` is itself. */
export function etagOf(header: string | undefined): string | undefined {
  return header?.trim().replace(/^(W\/)?"(.*)"$/, '$2');
}

/** The headers that routes of definitions document. */
export const ETAG = {
  ETag: 'The tag of the definition: its hash, with a part of the hash of its text where one is kept.',
};
export const IF_MATCH = { 'If-Match': 'The tag that the stored definition must have.' };

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
