/** `/api/workflows/:slug/proposals`: changes that somebody, or a run, would make, for others to review (document 002). */

import type { Request, Router } from 'express';
import { z } from 'zod';
import {
  applyProposal,
  createProposal,
  listProposals,
  readProposal,
  reviewProposal,
} from '../../../client/definitions/proposals.ts';
import { PROPOSAL_STATUSES, type Proposal } from '../../../contract/proposal.ts';
import { defined } from '../../../json/defined.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { indexedPage } from '../../http/indexed-page.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { idOfKey } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import { type Checked, checkDocument, demandValid, dialectName } from '../../input/definition-input.ts';
import { toolsFor } from '../../input/known-tools.ts';
import {
  anyJson,
  demandNoQuery,
  nameText,
  noMembers,
  pageQuery,
  pathSlug,
  pathText,
  queryAs,
} from '../../validation/validation.ts';
import { changeNotes, differenceOf, versionHash } from './history.ts';
import { shownHead } from './workflow-head.ts';

export const proposalListQuery = z.strictObject({
  ...pageQuery(),
  status: z.enum(PROPOSAL_STATUSES).optional().describe('Only those.'),
});
export const proposalBody = z.strictObject({
  baseWorkflowHash: versionHash.describe('The version that is to be changed: the one that the workflow is now.'),
  proposal: anyJson.describe('The definition as it would be, in any dialect.'),
  notes: changeNotes.optional(),
  executionId: nameText(300).optional().describe('The run that proposes it.'),
  dialect: dialectName.optional().describe('What the proposal is written in. Default: told by its form.'),
});
export const reviewBody = z.strictObject({
  decision: z.enum(['approve', 'reject']),
  notes: changeNotes.optional(),
});

export function proposalRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/workflows/:slug/proposals', {
    GET: async (req, res) => {
      const { status, ...page } = queryAs(req, proposalListQuery);
      const { organizationId } = principalOf(req);
      const slug = pathSlug(req);
      const proposals = (await listProposals(access, organizationId, slug)).filter(
        (proposal) => status === undefined || proposal.status === status,
      );
      const list = `proposals ${organizationId} ${slug} ${status ?? ''}`;
      const shown = indexedPage(gateway, list, proposals, page);
      res.json({ ...shown, items: shown.items.map((proposal) => shownProposal(slug, proposal)) });
    },
    POST: async (req, res) => {
      demandNoQuery(req);
      const { baseWorkflowHash: baseHash, proposal, notes, executionId, dialect } = bodyAs(req, proposalBody);
      const { organizationId, id: by } = principalOf(req);
      const slug = pathSlug(req);
      // Where nothing can be changed, no more is said of what it would become.
      await listProposals(access, organizationId, slug);
      const { definition, hash, secrets } = withSecrets(
        await checkDocument(gateway, organizationId, proposal, {
          slug,
          ...defined({ dialect }),
          ...(await toolsFor(gateway, organizationId, proposal)),
        }),
      );
      if (secrets.length > 0)
        throw new HttpProblem(
          'invalid_definition',
          'A proposal can hold no secret in clear: it would replace the one in use. Store the secret, and refer to it.',
          {
            problems: [
              { pointer: '/proposal', code: 'clear_secret', message: 'The proposal holds a secret in clear.' },
            ],
          },
        );
      const id = idOfKey(req);
      const made = await createProposal(access, organizationId, slug, {
        baseHash,
        definition,
        hash,
        ...defined({ id, notes, executionId, by }),
      });
      res.status(201).json(await withDiff(req, slug, made));
    },
  });

  resource(router, '/api/workflows/:slug/proposals/:id', {
    GET: async (req, res) => {
      demandNoQuery(req);
      const slug = pathSlug(req);
      const found = await readProposal(access, principalOf(req).organizationId, slug, pathText(req, 'id'));
      res.json(await withDiff(req, slug, found));
    },
  });

  resource(router, '/api/workflows/:slug/proposals/:id/review', {
    POST: async (req, res) => {
      demandNoQuery(req);
      const { decision, notes } = bodyAs(req, reviewBody);
      const { organizationId } = principalOf(req);
      const slug = pathSlug(req);
      const reviewed = await reviewProposal(access, organizationId, slug, pathText(req, 'id'), {
        decision,
        ...defined({ notes }),
        ...authorOf(req),
      });
      res.json(shownProposal(slug, reviewed));
    },
  });

  resource(router, '/api/workflows/:slug/proposals/:id/apply', {
    POST: async (req, res) => {
      demandNoQuery(req);
      bodyAs(req, noMembers);
      const { organizationId } = principalOf(req);
      const slug = pathSlug(req);
      const id = pathText(req, 'id');
      const { head, proposal } = await applyProposal(access, organizationId, slug, id, authorOf(req));
      res.setHeader('etag', `"${head.hash}"`);
      res.json({ proposal: shownProposal(slug, proposal), workflow: shownHead(head) });
    },
  });

  async function withDiff(req: Request, slug: string, proposal: Proposal): Promise<object> {
    const { organizationId } = principalOf(req);
    const { baseHash: from, hash: to } = proposal;
    const difference = await differenceOf(gateway, organizationId, slug, { from, to });
    return { ...shownProposal(slug, proposal), ...difference };
  }
}

/** Who asks, and the key of what they ask. */
function authorOf(req: Request): { by?: string; key?: string } {
  const { id: by } = principalOf(req);
  const key = idOfKey(req);
  return defined({ by, key });
}

function withSecrets(checked: Checked) {
  return { ...demandValid(checked), secrets: checked.secrets };
}

function shownProposal(slug: string, { baseHash, hash, by, ...proposal }: Proposal): object {
  return {
    ...proposal,
    workflowId: slug,
    baseWorkflowHash: baseHash,
    proposalHash: hash,
    ...defined({ proposedBy: by }),
  };
}
