/** `/api/workflows/:slug/history`, `/diff` and `/rollback`: versions of a definition (document 002). */

import type { Router } from 'express';
import { z } from 'zod';
import { demandVersion } from '../../../client/definitions/proposals.ts';
import { rollBack } from '../../../client/definitions/rollback.ts';
import { readDefinitionHistory } from '../../../client/versions/definition-history.ts';
import type { DefinitionChange } from '../../../contract/actors.ts';
import type { VersionDifference } from '../../../definition/document/diff.ts';
import { defined } from '../../../json/defined.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { indexedPage } from '../../http/indexed-page.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { idOfKey } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import { compareIn } from '../../input/in-threads.ts';
import { checked, demandNoQuery, pageQuery, pathSlug, pathText, queryAs } from '../../validation/validation.ts';
import { shownHead } from './workflow-head.ts';

/** A version's hash, with or without what it begins with. */
export const versionHash = z
  .string()
  .regex(/^(sha256:)?[0-9a-f]{64}$/, 'Expected the hash of a version: sha256: and 64 hexadecimal digits.')
  .transform((hash) => (hash.startsWith('sha256:') ? hash : `sha256:${hash}`));

export const changeNotes = z.string().max(500).describe('Why, for readers of the history.');
export const historyQuery = z.strictObject(pageQuery());
export const diffQuery = z.strictObject({
  from: versionHash.describe('The version of before.'),
  to: versionHash.describe('The version of after.'),
});
export const rollbackBody = z.strictObject({
  workflowHash: versionHash.describe('The version to go back to, as the history has it.'),
  notes: changeNotes.optional(),
});

export function historyRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/workflows/:slug/history', {
    GET: async (req, res) => {
      const page = queryAs(req, historyQuery);
      const slug = pathSlug(req);
      const { organizationId } = principalOf(req);
      const history = await readDefinitionHistory(access, organizationId, slug);
      if (history === undefined) throw new HttpProblem('not_found', `There never was a workflow called ${slug}.`);
      const newestFirst = [...history.changes].reverse();
      const shown = indexedPage(gateway, `history ${organizationId} ${slug}`, newestFirst, page);
      res.json({ ...shown, items: shown.items.map(shownChange) });
    },
  });

  resource(router, '/api/workflows/:slug/history/:hash', {
    GET: async (req, res) => {
      demandNoQuery(req);
      const slug = pathSlug(req);
      const hash = checked(versionHash, pathText(req, 'hash'), 'path');
      const definition = await demandVersion(access, principalOf(req).organizationId, slug, hash);
      res.json({ slug, hash, definition });
    },
  });

  resource(router, '/api/workflows/:slug/diff', {
    GET: async (req, res) => {
      const { from, to } = queryAs(req, diffQuery);
      const slug = pathSlug(req);
      const difference = await differenceOf(gateway, principalOf(req).organizationId, slug, { from, to });
      res.json({ from, to, ...difference });
    },
  });

  resource(router, '/api/workflows/:slug/rollback', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const { workflowHash: hash, notes } = bodyAs(req, rollbackBody);
      const { organizationId, id: by } = principalOf(req);
      const key = idOfKey(req);
      const { head, alreadyAtVersion } = await rollBack(access, organizationId, pathSlug(req), {
        hash,
        ...defined({ key, notes, by }),
      });
      res.setHeader('etag', `"${head.hash}"`);
      res.json({ ...shownHead(head), alreadyAtVersion });
    },
  });
}

/** What leads from one version to another. @throws ClientError `version_not_found`, and HttpProblem of the pool. */
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

function shownChange({ at, by, proposalId, ...change }: DefinitionChange): object {
  return {
    ...change,
    createdAt: at,
    ...defined({ createdBy: by, sourceProposalId: proposalId }),
  };
}
