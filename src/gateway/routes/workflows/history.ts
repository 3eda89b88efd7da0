/** `/api/workflows/:slug/history`, `/diff` and `/rollback`: versions of a definition (document 002). */

import { z } from 'zod';
import { demandVersion } from '../../../client/definitions/proposals.ts';
import { rollBack } from '../../../client/definitions/rollback.ts';
import { readDefinitionHistory } from '../../../client/versions/definition-history.ts';
import type { DefinitionChange } from '../../../contract/actors.ts';
import type { VersionDifference } from '../../../definition/document/diff.ts';
import { defined } from '../../../json/defined.ts';
import { anything, pageOf, time } from '../../answers/named.ts';
import { definitionDocument, workflowHead } from '../../answers/workflows.ts';
import type { Gateway } from '../../http/context.ts';
import { indexedPage } from '../../http/pages.ts';
import { idOfKey } from '../../http/request-key.ts';
import { type Route, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { compareIn } from '../../input/in-threads.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { LIST_PROBLEMS } from '../../validation/problem-codes.ts';
import { pageQuery, slugText } from '../../validation/validation.ts';
import { ETAG, PUT_PROBLEMS, shownHead } from './workflow-head.ts';

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
const rollbackBody = z.strictObject({
  workflowHash: versionHash.describe('The hash, from the history, of the version to restore.'),
  notes: changeNotes.optional(),
});
const change = z.object({
  hash: z.string(),
  version: z.string(),
  source: z.enum(['update', 'sync', 'proposal_apply', 'rollback', 'system']),
  createdAt: time,
  createdBy: z.string().optional(),
  notes: z.string().optional(),
  sourceProposalId: z.string().optional(),
});
/** Members of answers that describe the difference between two versions. */
export const difference = {
  diffText: z.string().describe('A unified diff of both as JSON with sorted keys.'),
  changes: z
    .array(
      z.object({
        op: z.enum(['added', 'removed', 'changed']),
        pointer: z.string(),
        before: anything.optional(),
        after: anything.optional(),
      }),
    )
    .describe('At most 1,000.'),
};

const params = { slug: slugText };

export const historyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/workflows/:slug/history',
    role: 'viewer',
    id: 'listWorkflowHistory',
    tag: 'workflows',
    summary: 'Lists the versions of a definition, newest first. A deleted definition keeps its versions.',
    params,
    query: z.strictObject(pageQuery()),
    answers: { 200: { text: 'A page of changes.', schema: pageOf(change) } },
    problems: [...LIST_PROBLEMS, 'not_found'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { slug }, query }) => {
      const history = await readDefinitionHistory(access, organizationId, slug);
      if (history === undefined) throw new HttpProblem('not_found', `There never was a workflow called ${slug}.`);
      const newestFirst = [...history.changes].reverse();
      const shown = indexedPage(gateway, `history ${organizationId} ${slug}`, newestFirst, query);
      return { status: 200, body: { ...shown, items: shown.items.map(shownChange) } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/workflows/:slug/history/:hash',
    role: 'viewer',
    id: 'getWorkflowVersion',
    tag: 'workflows',
    summary: 'Reads a version of a definition.',
    params: { ...params, hash: versionHash },
    answers: {
      200: {
        text: 'The version.',
        schema: z.object({ slug: z.string(), hash: z.string(), definition: definitionDocument }),
      },
    },
    problems: ['not_found', 'version_not_found'],
    handle: async ({ access, principal: { organizationId }, params: { slug, hash } }) => {
      const definition = await demandVersion(access, organizationId, slug, hash);
      return { status: 200, body: { slug, hash, definition } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/workflows/:slug/diff',
    role: 'viewer',
    id: 'diffWorkflowVersions',
    tag: 'workflows',
    summary: 'Compares two versions, as a text and as a list.',
    params,
    query: diffQuery,
    answers: {
      200: { text: 'What differs.', schema: z.object({ from: z.string(), to: z.string(), ...difference }) },
    },
    problems: ['not_found', 'version_not_found'],
    handle: async ({ gateway, principal: { organizationId }, params: { slug }, query }) => ({
      status: 200,
      body: { ...query, ...(await differenceOf(gateway, organizationId, slug, query)) },
    }),
  }),
  route({
    method: 'POST',
    path: '/api/workflows/:slug/rollback',
    role: 'editor',
    id: 'rollBackWorkflow',
    tag: 'workflows',
    summary: 'Restores a version of a definition under a new version number.',
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
      const change = { hash, ...defined({ key: idOfKey(req), notes, by }) };
      const { head, alreadyAtVersion } = await rollBack(access, organizationId, slug, change);
      return { status: 200, body: { ...shownHead(head), alreadyAtVersion }, headers: { etag: `"${head.hash}"` } };
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
  const versions = await Promise.all([
    demandVersion(gateway.access, org, slug, from),
    demandVersion(gateway.access, org, slug, to),
  ]);
  return compareIn(gateway, org, versions, { before: `${slug} ${from}`, after: `${slug} ${to}` });
}

function shownChange({ at, by, proposalId, ...change }: DefinitionChange) {
  return {
    ...change,
    createdAt: at,
    ...defined({ createdBy: by, sourceProposalId: proposalId }),
  };
}
