/** `/api/workflows/sync` and `/sync-all`: copies definitions from another place. */

import { z } from 'zod';
import { type SyncedDefinition, type SyncOptions, syncDefinition, syncSet } from '../../../client/definitions/sync.ts';
import { demandRoomForSecrets, putExtractedSecrets } from '../../../client/organization/secrets.ts';
import type { Problem } from '../../../definition/document/types.ts';
import type { Json } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { createdOrOk, type Incoming, ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { checkDocuments, dialectName } from '../../input/definition-input.ts';
import { factsForDocuments } from '../../input/organization-facts.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { CHECK_PROBLEMS, type ProblemCode } from '../../validation/problem-codes.ts';
import { anyJson, nameText } from '../../validation/validation.ts';
import { changeNotes } from './history.ts';
import { PUT_PROBLEMS } from './workflow-head.ts';

const MAX_DEFINITIONS = 5_000;

const DOCUMENT = 'The definition, in any dialect: an object, or YAML or JSON as text, which is kept.';

const options = {
  source: nameText(200)
    .optional()
    .describe('The source that the definition belongs to. Syncs without a source share one.'),
  dryRun: z.boolean().optional().describe('Reports the changes without making them.'),
  notes: changeNotes.optional(),
  dialect: dialectName,
};
const syncBody = z.strictObject({ workflow: anyJson.describe(DOCUMENT), ...options });
const syncAllBody = z.strictObject({
  workflows: z
    .array(anyJson.describe(DOCUMENT))
    .max(MAX_DEFINITIONS)
    .describe('All definitions of the source. Definitions that it synced before and no longer has are deleted.'),
  ...options,
});

type Options = Pick<z.infer<typeof syncBody>, 'source' | 'dryRun' | 'notes' | 'dialect'>;

const synced = z.object({ slug: z.string(), hash: z.string(), action: z.string() });
const slugs = z.array(z.string());
const PROBLEMS: readonly ProblemCode[] = [...PUT_PROBLEMS, ...CHECK_PROBLEMS, 'already_exists'];

export const syncRoutes = [
  route({
    method: 'POST',
    path: '/api/workflows/sync',
    role: 'editor',
    id: 'syncWorkflow',
    summary: 'Synchronizes a definition with another place, such as a repository.',
    description:
      'Stores the definition if it differs from the stored one. `action` says whether it was created, updated ' +
      'or unchanged; with `dryRun` nothing is stored.',
    body: jsonOf(syncBody),
    answers: {
      201: { text: 'Done; the definition is new.', schema: synced },
      200: { text: 'Done, or a dry run.', schema: synced },
    },
    problems: PROBLEMS,
    handle: async ({ gateway, access, principal: { organizationId, id }, body: { workflow, ...given } }) => {
      const [synced] = await checkAll({ gateway, access }, organizationId, [workflow], given, () => '/workflow');
      if (synced === undefined) throw new HttpProblem('invalid_request', 'Give a definition as `workflow`.');
      const action = await syncDefinition(access, organizationId, synced, optionsOf(id, given));
      const answer = { slug: synced.definition.slug, hash: synced.hash, action };
      return createdOrOk(action === 'created' && given.dryRun !== true, answer);
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows/sync-all',
    role: 'editor',
    id: 'syncAllWorkflows',
    summary: 'Synchronizes the definitions of a source, and deletes definitions that the source no longer has.',
    description:
      'All definitions are checked before any is stored, so one with problems refuses the request. Definitions ' +
      'of other sources, and those stored otherwise, stay. With `dryRun` the answer says what would change.',
    body: jsonOf(syncAllBody),
    answers: {
      200: {
        text: 'The changes made, or in a dry run the changes that would be made.',
        schema: z.object({ created: slugs, updated: slugs, unchanged: slugs, deleted: slugs }),
      },
    },
    problems: PROBLEMS,
    handle: async ({ gateway, access, principal: { organizationId, id }, body: { workflows, ...given } }) => {
      const synced = await checkAll(
        { gateway, access },
        organizationId,
        workflows,
        given,
        (index) => `/workflows/${index}`,
      );
      return ok(await syncSet(access, organizationId, synced, optionsOf(id, given)));
    },
  }),
];

/** Writes all definitions or none: every definition is checked first. */
async function checkAll(
  { gateway, access }: Pick<Incoming, 'gateway' | 'access'>,
  organizationId: string,
  documents: readonly Json[],
  { dialect }: Options,
  pointer: (index: number) => string,
): Promise<SyncedDefinition[]> {
  const problems: Problem[] = [];
  const indexBySlug = new Map<string, number>();
  const checkedAll = await checkDocuments(gateway, organizationId, documents, {
    ...(await factsForDocuments(gateway, organizationId, ...documents)),
    ...omitUndefined({ dialect }),
  });
  for (const [index, checked] of checkedAll.entries()) {
    for (const problem of checked.problems)
      problems.push({ ...problem, pointer: `${pointer(index)}${problem.pointer}` });
    const slug = checked.definition?.slug;
    const before = slug === undefined ? undefined : indexBySlug.get(slug);
    if (before !== undefined)
      problems.push({
        pointer: `${pointer(index)}/slug`,
        code: 'duplicate_slug',
        message: `The slug ${slug} is that of ${pointer(before)} as well.`,
      });
    if (slug !== undefined) indexBySlug.set(slug, index);
  }
  const [first] = problems;
  if (first !== undefined)
    throw new HttpProblem(
      'invalid_definition',
      `Nothing was written, since there are problems: ${first.message} (${first.pointer}).`,
      { problems },
    );
  const secretsToStore = checkedAll.flatMap(({ definition, secrets }) =>
    secrets.map((secret) => ({ ...secret, owner: definition?.slug ?? '' })),
  );
  await demandRoomForSecrets(access, organizationId, secretsToStore);
  return checkedAll.flatMap(({ definition, hash, secrets, text }) => {
    if (definition === undefined || hash === undefined) return [];
    const storeSecrets = () => putExtractedSecrets(access, organizationId, definition.slug, secrets);
    return [{ definition, hash, afterWrite: storeSecrets, ...omitUndefined({ text }) }];
  });
}

function optionsOf(by: string | undefined, { source, dryRun, notes }: Options): SyncOptions {
  return omitUndefined({ source, dryRun, notes, by });
}
