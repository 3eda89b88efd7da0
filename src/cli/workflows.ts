/** Stored definitions over the gateway: their heads, their versions, and the version that a person names. */

import type { Definition } from '../definition/document/types.ts';
import type { JsonObject } from '../json/json.ts';
import { CliError, EXIT } from './exit.ts';
import type { WorkflowChange, WorkflowHead } from './gateway-answers.ts';
import type { Gateway } from './gateway-client.ts';
import { allItems, type ListLayout } from './show-list.ts';

export const WORKFLOW_LAYOUT: ListLayout<WorkflowHead> = {
  head: ['SLUG', 'VERSION', 'ENABLED', 'UPDATED', 'NAME'],
  cells: ({ slug, version, enabled, updatedAt, name }) => [slug, version, enabled ? 'yes' : 'no', updatedAt, name],
  none: 'No workflows.',
};

/** The gateway has checked it before it was stored. */
export const definitionIn = ({ definition }: { readonly definition: JsonObject }): Definition =>
  definition as unknown as Definition;

/** The changes of a definition, newest first. */
export const historyOf = (gateway: Gateway, slug: string): Promise<WorkflowChange[]> =>
  allItems((query) => gateway.call('GET', '/api/workflows/:slug/history', { params: { slug }, query }));

const MIN_HASH_DIGITS = 6;

/**
 * The version that a person names by its number, its hash, or the first digits of its hash. A rollback may repeat a
 * number: the latest counts.
 * @throws CliError if the history has none or several
 */
export function findVersion(slug: string, changes: readonly WorkflowChange[], name: string): WorkflowChange {
  const digits = /^(?:sha256:)?([0-9a-f]+)$/.exec(name)?.[1] ?? '';
  const byNumber = changes.find(({ version }) => version === name);
  if (byNumber !== undefined) return byNumber;
  const found =
    digits.length < MIN_HASH_DIGITS ? [] : changes.filter(({ hash }) => hash.startsWith(`sha256:${digits}`));
  const [first] = found;
  const hashes = new Set(found.map(({ hash }) => hash));
  if (first !== undefined && hashes.size === 1) return first;
  if (hashes.size > 1)
    throw new CliError(EXIT.input, `Several versions of ${slug} begin with ${name}. Give more digits of the hash.`, [
      ...hashes,
    ]);
  throw new CliError(
    EXIT.input,
    `Workflow ${slug} has no version ${name}. Name it by its number or hash, as ` +
      `signalbox workflows history ${slug} lists them.`,
  );
}

/** The definition of a version, without its number. */
export async function versionDefinition(gateway: Gateway, slug: string, hash: string): Promise<Definition> {
  const { body } = await gateway.call('GET', '/api/workflows/:slug/history/:hash', { params: { slug, hash } });
  return definitionIn(body);
}

/** The first digits of a hash, for tables. */
export const abbreviatedHash = (hash: string): string => hash.replace(/^sha256:/, '').slice(0, 12);
