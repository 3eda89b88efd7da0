/** `/api/workflows`: definitions, stored, read, listed, deleted and checked (design.md §5). */
import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import {
  type DefinitionWrite,
  listDefinitions,
  putDefinition,
  readDefinition,
  removeDefinition,
} from '../client/definitions.ts';
import { listOfWorkflow, listRuns } from '../client/run-list.ts';
import type { Definition } from '../definition/types.ts';
import type { Gateway } from './context.ts';
import { checkBody, demandValid, dialectName, storing } from './definition-door.ts';
import { demandNoQuery, nameText, pageQuery, pathSlug, queryAs } from './door.ts';
import { runListQuery } from './execution-list.ts';
import { changeNotes } from './history.ts';
import { principalOf } from './principal.ts';
import { HttpProblem } from './problem.ts';
import { idOfKey } from './request-key.ts';
import { resource } from './resource.ts';
import { shownRun } from './shown-waits.ts';
import { webhookUrl } from './webhook-place.ts';
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
        ...(cursor === undefined ? {} : { cursor }),
        ...(enabled === undefined ? {} : { enabled: enabled === 'true' }),
        ...(tag === undefined ? {} : { tag }),
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
          ...(dialect === undefined ? {} : { dialect }),
          persons: principalOf(req).id !== undefined,
        });
        const { valid, problems, warnings, hash, dialect: found } = checked;
        res.json({ valid, dialect: found, problems, warnings, ...(hash === undefined ? {} : { hash }) });
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
      await removeDefinition(access, organizationId, pathSlug(req), {
        ...(ifMatch === undefined ? {} : { ifMatch }),
        ...(id === undefined ? {} : { by: id }),
      });
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
      ...(dialect === undefined ? {} : { dialect }),
      ...(slug === undefined ? {} : { slug }),
    });
    const { definition, hash } = demandValid(checked);
    const ifMatch = etagOf(req.get('if-match'));
    const key = idOfKey(req);
    const write: DefinitionWrite = {
      definition,
      hash,
      source: 'update',
      along: storing(gateway, organizationId, definition.slug, checked.secrets),
      ...(id === undefined ? {} : { by: id }),
      ...(notes === undefined ? {} : { notes }),
      ...(key === undefined ? {} : { key }),
      ...(ifMatch === undefined ? {} : { ifMatch }),
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
