/** The head of a definition in answers, and the headers and codes that routes of definitions share. */
import type { DefinitionHead } from '../../../contract/actors.ts';
import { type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';

/** `{slug, name, version, hash, enabled, tags, updatedAt}` and a little more (ARCHITECTURE.md §5, "Answers"). */
export function shownHead(
  head: DefinitionHead,
): Omit<DefinitionHead, 'hooks' | 'revision' | 'triggers' | 'triggerSecrets'> {
  const { hooks: _hooks, revision: _revision, triggers: _triggers, triggerSecrets: _secrets, ...shown } = head;
  return shown;
}

/** The hash of an If-Match, quoted or not; `*` is itself. */
export function etagOf(header: string | undefined): string | undefined {
  return header?.trim().replace(/^(W\/)?"(.*)"$/, '$2');
}

/** The headers that routes of definitions document. */
export const ETAG = { ETag: 'The hash of the definition.' };
export const IF_MATCH = { 'If-Match': 'The hash that the stored definition must have.' };

/** The codes of a route that changes a stored definition. */
export const PUT_PROBLEMS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'not_found',
  'hash_mismatch',
  'entry_changed',
  'path_taken',
  'path_reserved',
  'path_resting',
  'trigger_exists',
  'payload_too_large',
  'version_missing',
  'too_many',
  'too_large',
];
