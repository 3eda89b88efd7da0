/** `/api/workflows`: definitions, stored, read, listed, deleted and checked (ARCHITECTURE.md §5). */

import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { type DefinitionWrite, putDefinition, removeDefinition } from '../../../client/definitions/definitions.ts';
import { listOfWorkflow, listRuns } from '../../../client/runs/run-list.ts';
import { listDefinitions, readDefinition } from '../../../client/versions/definition-head.ts';
import type { Definition } from '../../../definition/document/types.ts';
import { defined } from '../../../json/defined.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { idOfKey } from '../../http/request-key.ts';
import { resource } from '../../http/resource.ts';
import { checkBody, demandValid, dialectName, storing } from '../../input/definition-input.ts';
import { webhookUrl } from '../../input/webhook-path.ts';
import { demandNoQuery, nameText, pageQuery, pathSlug, queryAs } from '../../validation/validation.ts';
import { runListQuery } from '../executions/execution-list.ts';
import { shownRun } from '../executions/shown-waits.ts';
import { changeNotes } from './history.ts';
import { patchWorkflow } from './workflow-fields.ts';
import { etagOf, shownHead } from './workflow-head.ts';

export const workflowListQuery = z.strictObject({
  ...pageQuery(),
  enabled: z.enum(['true', 'false']).optional().describe('Only those that are, or are not.'),
  tag: nameText(200).optional().describe('Only those with the tag.'),
});
export const workflowWriteQuery = z.strictObject({
  dialect: dialectName.optional().describe('What the document is written in. Default: told by its form.'),
});
export const workflowStoreQuery = workflowWriteQuery.extend({ notes: changeNotes.optional() });

export function workflowRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;

  resource(router, '/api/workflows', {
    GET: async (req, res) => {
      const { organizationId } = principalOf(req);
      const { limit, cursor, enabled, tag } = queryAs(req, workflowListQuery);
      const page = await listDefinitions(access, organizationId, {
        limit,
        ...defined({ cursor }),
        ...(enabled === undefined ? {} : { enabled: enabled === 'true' }),
        ...defined({ tag }),
      });
      res.json({ ...page, items: page.items.map((head) => shownHead(head)) });
    },
    POST: (req, res) => store(req, res, undefined),
  });

  resource(
    router,
    '/api/workflows/validate',
    {
      POST: async (req, res) => {
        const { dialect } = queryAs(req, workflowWriteQuery);
        const checked = await checkBody(gateway, req, {
          ...defined({ dialect }),
          persons: principalOf(req).id !== undefined,
        });
        const { valid, problems, warnings, hash, dialect: found } = checked;
        res.json({ valid, dialect: found, problems, warnings, ...defined({ hash }) });
      },
    },
    // A workflow may be called `validate`.
    { open: true },
  );

  resource(router, '/api/workflows/:slug', {
    PUT: (req, res) => store(req, res, pathSlug(req)),
    GET: async (req, res) => {
      demandNoQuery(req);
      const slug = pathSlug(req);
      const found = await readDefinition(access, principalOf(req).organizationId, slug);
      if (found === undefined) throw missing(slug);
      res.setHeader('etag', `"${found.head.hash}"`);
      res.json({
        ...shownHead(found.head),
        definition: found.definition,
        ...hooksShown(principalOf(req).organizationId, found.definition),
      });
    },
    PATCH: (req, res) => patchWorkflow(gateway, req, res),
    DELETE: async (req, res) => {
      demandNoQuery(req);
      const { organizationId, id } = principalOf(req);
      const ifMatch = etagOf(req.get('if-match'));
      await removeDefinition(access, organizationId, pathSlug(req), defined({ ifMatch, by: id }));
      res.status(204).end();
    },
  });

  resource(router, '/api/workflows/:slug/executions', {
    GET: async (req, res) => {
      const slug = pathSlug(req);
      const { organizationId } = principalOf(req);
      const page = await listOfWorkflow(access, organizationId, slug, queryAs(req, runListQuery), listRuns);
      res.json({ ...page, items: page.items.map((run) => shownRun(access, req, run)) });
    },
  });

  async function store(req: Request, res: Response, slug: string | undefined): Promise<void> {
    const { dialect, notes } = queryAs(req, workflowStoreQuery);
    const { organizationId, id } = principalOf(req);
    const checked = await checkBody(gateway, req, {
      persons: id !== undefined,
      ...defined({ dialect, slug }),
    });
    const { definition, hash } = demandValid(checked);
    const ifMatch = etagOf(req.get('if-match'));
    const key = idOfKey(req);
    const write: DefinitionWrite = {
      definition,
      hash,
      source: 'update',
      along: storing(gateway, organizationId, definition.slug, checked.secrets),
      ...defined({ by: id, notes, key, ifMatch }),
      ...(req.get('if-none-match')?.trim() === '*' ? { ifNew: true } : {}),
    };
    const { created, head } = await putDefinition(access, organizationId, write);
    res.setHeader('etag', `"${head.hash}"`);
    if (created) res.setHeader('location', `/api/workflows/${head.slug}`);
    res
      .status(created ? 201 : 200)
      .json({ ...shownHead(head), ...hooksShown(organizationId, definition), warnings: checked.warnings });
  }

  /** Where the definition's webhooks are. */
  function hooksShown(org: string, definition: Definition): { triggers?: unknown[] } {
    const triggers = (definition.triggers ?? []).map(({ name, type, enabled, config }) => ({
      name,
      type,
      enabled: enabled ?? true,
      ...(type === 'webhook' ? { webhookUrl: webhookUrl(gateway, org, String(config?.['path'])) } : {}),
    }));
    return triggers.length === 0 ? {} : { triggers };
  }
}

const missing = (slug: string): HttpProblem => new HttpProblem('not_found', `There is no workflow called ${slug}.`);
