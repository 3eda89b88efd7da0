/** `/api/workflows/:slug/history`, `/diff` and `/rollback`: versions of a definition. */

import { z } from 'zod';
import { rollBack } from '../../../client/definitions/rollback.ts';
import { readDefinitionHistory } from '../../../client/versions/definition-history.ts';
import { readVersionText } from '../../../client/versions/texts.ts';
import { versionReader } from '../../../client/versions/version-history.ts';
import type { DefinitionChange } from '../../../contract/actors.ts';
import type { VersionDifference } from '../../../definition/document/diff.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { versionDifference, workflowChangePage, workflowText } from '../../answers/versions.ts';
import { definitionDocument, workflowHead } from '../../answers/workflows.ts';
import type { Gateway } from '../../http/context.ts';
import { idempotentId } from '../../http/idempotency-key.ts';
import { offsetPage } from '../../http/pagination.ts';
import { ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { offloadDiff } from '../../input/offload.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { LIST_PROBLEMS } from '../../validation/problem-codes.ts';
import { pageQuery, slugText } from '../../validation/validation.ts';
import { ETAG, etagHeaderOf, PUT_PROBLEMS, shownHead } from './workflow-head.ts';

/** A version's hash, with or without its prefix. */
export const versionHash = z
  .string()
  .regex(/^(sha256:)?[0-9a-f]{64}$/, 'Expected the hash of a version: sha256: and 64 hexadecimal digits.')
  .transform((hash) => (hash.startsWith('sha256:') ? hash : `sha256:${hash}`));

export const changeNotes = z.string().max(500).describe('The reason, shown in the history.');
const diffQuery = z.strictObject({
  from: versionHash.describe('The earlier version.'),
  to: versionHash.describe('The later version.'),
});
const textQuery = z.strictObject({
  hash: versionHash.optional().describe('The version. Default: the current one.'),
  text: versionHash.optional().describe('The hash of a text, from the history. Default: the latest of the version.'),
});
const rollbackBody = z.strictObject({
  workflowHash: versionHash.describe('The hash, from the history, of the version to restore.'),
  notes: changeNotes.optional(),
});
const params = { slug: slugText };

export const historyRoutes = [
  route({
    method: 'GET',
    path: '/api/workflows/:slug/history',
    role: 'viewer',
    id: 'listWorkflowHistory',
    summary: 'Lists the versions of a definition, newest first. A deleted definition keeps its versions.',
    description:
      'Each entry says when, by whom and why the definition changed, and has the hash by which its version can ' +
      'be read, compared and restored.',
    params,
    query: z.strictObject(pageQuery()),
    answers: { 200: { text: 'A page of changes.', schema: workflowChangePage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { slug }, query }) => {
      const history = await readDefinitionHistory(access, organizationId, slug);
      if (history === undefined) throw new HttpProblem('not_found', `There never was a workflow called ${slug}.`);
      const newestFirst = [...history.changes].reverse();
      const shown = offsetPage(gateway, `history ${organizationId} ${slug}`, newestFirst, query);
      return ok({ ...shown, items: shown.items.map(shownChange) });
    },
  }),
  route({
    method: 'GET',
    path: '/api/workflows/:slug/history/:hash',
    role: 'viewer',
    id: 'getWorkflowVersion',
    summary: 'Reads a version of a definition, or what a proposal proposes.',
    description:
      'Only versions that were ever current, and proposals that are listed, can be read. Any other hash is 404.',
    params: { ...params, hash: versionHash },
    answers: {
      200: {
        text: 'The version.',
        schema: z.object({ slug: z.string(), hash: z.string(), definition: definitionDocument }),
      },
    },
    problems: ['not_found', 'version_not_found'],
    handle: async ({ access, principal: { organizationId }, params: { slug, hash } }) => {
      const definition = await (await versionReader(access, organizationId, slug))(hash);
      return ok({ slug, hash, definition });
    },
  }),
  route({
    method: 'GET',
    path: '/api/workflows/:slug/text',
    role: 'viewer',
    id: 'getWorkflowText',
    summary: 'Reads the text of a definition as its author wrote it, with its comments.',
    description:
      'YAML and JSON of more than one line are kept with each change. Clear secrets in them are replaced by ' +
      'references. Where no text was kept, the canonical form is answered as a text, without `textHash`.',
    params,
    query: textQuery,
    answers: { 200: { text: 'The text.', schema: workflowText } },
    problems: ['not_found', 'version_not_found'],
    handle: async ({ access, principal: { organizationId }, params: { slug }, query }) =>
      ok({ slug, ...(await readVersionText(access, organizationId, slug, omitUndefined(query))) }),
  }),
  route({
    method: 'GET',
    path: '/api/workflows/:slug/diff',
    role: 'viewer',
    id: 'diffWorkflowVersions',
    summary: 'Compares two versions, as a text and as a list.',
    description: 'Of the canonical forms, so comments and the order of members do not count.',
    params,
    query: diffQuery,
    answers: { 200: { text: 'What differs.', schema: versionDifference } },
    problems: ['not_found', 'version_not_found'],
    handle: async ({ gateway, principal: { organizationId }, params: { slug }, query }) =>
      ok({ ...query, ...(await differenceOf(gateway, organizationId, slug, query)) }),
  }),
  route({
    method: 'POST',
    path: '/api/workflows/:slug/rollback',
    role: 'editor',
    id: 'rollBackWorkflow',
    summary: 'Restores a version of a definition under a new version number.',
    description:
      'Its steps, triggers and settings are those of the version again. Secrets stay as they are. ' +
      '`alreadyAtVersion` says that there was nothing to change.',
    params,
    body: jsonOf(rollbackBody),
    answers: {
      200: {
        text: 'The definition is that version.',
        schema: z.object({ ...workflowHead.shape, alreadyAtVersion: z.boolean() }),
        headers: ETAG,
      },
    },
    problems: [...PUT_PROBLEMS, 'version_not_found'],
    handle: async ({ access, principal: { organizationId, id: by }, req, params: { slug }, body }) => {
      const { workflowHash: hash, notes } = body;
      const change = { hash, ...omitUndefined({ key: idempotentId(req), notes, by }) };
      const { head, alreadyAtVersion } = await rollBack(access, organizationId, slug, change);
      return { status: 200, body: { ...shownHead(head), alreadyAtVersion }, headers: etagHeaderOf(head) };
    },
  }),
];

/** Compares two versions. @throws ClientError `version_not_found`, and HttpProblem those of the pool. */
export async function differenceOf(
  gateway: Gateway,
  org: string,
  slug: string,
  { from, to }: z.infer<typeof diffQuery>,
): Promise<VersionDifference> {
  const read = await versionReader(gateway.access, org, slug);
  const versions = await Promise.all([read(from), read(to)]);
  return offloadDiff(gateway, org, versions, { before: `${slug} ${from}`, after: `${slug} ${to}` });
}

function shownChange({ at, by, proposalId, text, ...change }: DefinitionChange) {
  return {
    ...change,
    createdAt: at,
    ...omitUndefined({ createdBy: by, sourceProposalId: proposalId, textHash: text?.hash }),
  };
}
