/**
 * Workflow ids of actors and runs (design.md §4): a dot divides, and what users write freely is hashed.
 */
import { createHash } from 'node:crypto';
import { ulid } from 'ulid';

/** What stands in ids as it is written. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const HASH_DIGITS = 32;

export const sha256Hex = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** 32 hexadecimal digits over parts that cannot run into each other. */
export const shortHash = (...parts: readonly string[]): string =>
  sha256Hex(JSON.stringify(parts)).slice(0, HASH_DIGITS);

const part = (text: string): string => (PLAIN.test(text) ? text : `h-${shortHash(text)}`);

export const definitionId = (org: string, slug: string): string => `def.${part(org)}.${part(slug)}`;
export const versionId = (org: string, slug: string, hash: string): string =>
  `ver.${part(org)}.${part(slug)}.${hash.replace(/^sha256:/, '')}`;
export const hookId = (org: string, path: string): string => `hook.${part(org)}.${part(path)}`;
export const organizationId = (org: string): string => `org.${part(org)}`;

export const newRunId = (org: string, slug: string): string => `run.${part(org)}.${part(slug)}.${ulid()}`;
/** The id of the one run that a key may start. `scope` keeps keys of different origins apart. */
export const keyedRunId = (org: string, slug: string, scope: string, key: string): string =>
  `run.${part(org)}.${part(slug)}.key-${shortHash(scope, key)}`;

/** Whether the id is of a run of that organization as the gateway starts them. Runs started by hand have ids of any shape. */
export const isRunIdOf = (org: string, id: string): boolean => id.startsWith(`run.${part(org)}.`);
export const looksLikeRunId = (id: string): boolean => /^run\.[A-Za-z0-9_-]+\./.test(id);
