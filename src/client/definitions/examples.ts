/** Stores the example definitions of deploy/examples in a store that has never held a definition. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Conversion, toCanonical } from '../../compat/dialects.ts';
import { DEFINITION_WORKFLOW } from '../../contract/actors.ts';
import { definitionHash } from '../../definition/document/canonical.ts';
import { parseDocument } from '../../definition/document/parse.ts';
import { onCode } from '../errors.ts';
import { putExtractedSecrets } from '../organization/secrets.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { actorQuery } from '../temporal/namespace-division.ts';
import { readHead } from '../versions/definition-head.ts';
import { listPage } from '../visibility/listing.ts';
import { putDefinition } from './definitions.ts';

/**
 * Stores every example of the folder, and encrypts their clear secrets. Does nothing where the organization has, or
 * ever had, a definition, so that deleted examples stay deleted. Answers the stored slugs.
 * @throws Error for a file that is not a definition, ClientError where Temporal refuses the write.
 */
export async function installExamples(access: WriteAccess, org: string, folder: string): Promise<string[]> {
  if (!(await isEmpty(access, org))) return [];
  const files = (await readdir(folder)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
  const stored = await Promise.all(files.map((name) => install(access, org, join(folder, name))));
  return stored.filter((slug) => slug !== undefined);
}

/** Actors of deleted definitions stay, so they count. */
async function isEmpty(access: Access, org: string): Promise<boolean> {
  const page = await listPage(access, await actorQuery(access, org, DEFINITION_WORKFLOW, []), { limit: 1 });
  return page.items.length === 0;
}

async function install(access: WriteAccess, org: string, path: string): Promise<string | undefined> {
  const { definition, secrets } = await readExample(path);
  if (definition === undefined) throw new Error(`The example ${path} is no definition. Mend it, or take it away.`);
  // Checked before the secrets are written: the list may lag, and a secret of that name may belong to another workflow.
  if ((await readHead(access, org, definition.slug)) !== undefined) return undefined;
  await putExtractedSecrets(access, org, definition.slug, secrets);
  const put = putDefinition(access, org, {
    definition,
    hash: definitionHash(definition),
    source: 'system',
    notes: 'An example, put into an empty store.',
    ifNew: true,
  });
  // Another process may have stored it first.
  return put.then(
    () => definition.slug,
    onCode(['already_exists', 'path_taken', 'path_resting'], () => undefined),
  );
}

async function readExample(path: string): Promise<Pick<Conversion, 'definition' | 'secrets'>> {
  const parsed = parseDocument(await readFile(path, 'utf8'));
  return 'document' in parsed ? toCanonical(parsed.document) : { secrets: [] };
}
