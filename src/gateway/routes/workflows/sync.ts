/** `/api/workflows/sync` and `/sync-all`: definitions kept as they are elsewhere (document 002). */

import type { Request, Router } from 'express';
import { z } from 'zod';
import { type SyncedDefinition, type SyncOptions, syncDefinition, syncSet } from '../../../client/definitions/sync.ts';
import type { Problem } from '../../../definition/document/types.ts';
import { defined } from '../../../json/defined.ts';
import type { Json } from '../../../json/json.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { resource } from '../../http/resource.ts';
import { checkDocuments, dialectName, storing } from '../../input/definition-input.ts';
import { toolsFor } from '../../input/known-tools.ts';
import { anyJson, demandNoQuery, nameText } from '../../validation/validation.ts';
import { changeNotes } from './history.ts';

const MOST_DEFINITIONS = 5_000;

const options = {
  source: nameText(200).optional().describe('The set that it is part of. Default: that of syncs which name none.'),
  dryRun: z.boolean().optional().describe('Tells what would be done, and does nothing.'),
  notes: changeNotes.optional(),
  dialect: dialectName.optional().describe('What the documents are written in. Default: told by their form.'),
};
export const syncBody = z.strictObject({ workflow: anyJson.describe('The definition, in any dialect.'), ...options });
export const syncAllBody = z.strictObject({
  workflows: z
    .array(anyJson)
    .max(MOST_DEFINITIONS)
    .describe('The whole set: what came by a sync of the same source before, and is not in it, is deleted.'),
  ...options,
});

type Options = Pick<z.infer<typeof syncBody>, 'source' | 'dryRun' | 'notes' | 'dialect'>;

export function syncRoutes(router: Router, gateway: Gateway): void {
  const { access } = gateway;
  // A workflow may be called `sync`: its address takes other methods.
  const open = { open: true };

  resource(
    router,
    '/api/workflows/sync',
    {
      POST: async (req, res) => {
        demandNoQuery(req);
        const { workflow, ...given } = bodyAs(req, syncBody);
        const [synced] = await accepted(req, [workflow], given, () => '/workflow');
        if (synced === undefined) throw new HttpProblem('invalid_request', 'Give a definition as `workflow`.');
        const { organizationId } = principalOf(req);
        const action = await syncDefinition(access, organizationId, synced, optionsOf(req, given));
        res.status(action === 'created' && given.dryRun !== true ? 201 : 200).json({
          slug: synced.definition.slug,
          hash: synced.hash,
          action,
        });
      },
    },
    open,
  );

  resource(
    router,
    '/api/workflows/sync-all',
    {
      POST: async (req, res) => {
        demandNoQuery(req);
        const { workflows, ...given } = bodyAs(req, syncAllBody);
        const synced = await accepted(req, workflows, given, (index) => `/workflows/${index}`);
        res.json(await syncSet(access, principalOf(req).organizationId, synced, optionsOf(req, given)));
      },
    },
    open,
  );

  /** All of them, or none: nothing is written before every one was checked. */
  async function accepted(
    req: Request,
    documents: readonly Json[],
    { dialect }: Options,
    pointer: (index: number) => string,
  ): Promise<SyncedDefinition[]> {
    const problems: Problem[] = [];
    const places = new Map<string, number>();
    const { organizationId } = principalOf(req);
    const checkedAll = await checkDocuments(gateway, organizationId, documents, {
      ...(await toolsFor(gateway, organizationId, ...documents)),
      ...defined({ dialect }),
    });
    for (const [index, checked] of checkedAll.entries()) {
      for (const problem of checked.problems)
        problems.push({ ...problem, pointer: `${pointer(index)}${problem.pointer}` });
      const slug = checked.definition?.slug;
      const before = slug === undefined ? undefined : places.get(slug);
      if (before !== undefined)
        problems.push({
          pointer: `${pointer(index)}/slug`,
          code: 'duplicate_slug',
          message: `The slug ${slug} is that of ${pointer(before)} as well.`,
        });
      if (slug !== undefined) places.set(slug, index);
    }
    const [first] = problems;
    if (first !== undefined)
      throw new HttpProblem(
        'invalid_definition',
        `Nothing was written, since there are problems: ${first.message} (${first.pointer}).`,
        { problems },
      );
    return checkedAll.flatMap(({ definition, hash, secrets }) =>
      definition === undefined || hash === undefined
        ? []
        : [{ definition, hash, along: storing(gateway, organizationId, definition.slug, secrets) }],
    );
  }
}

function optionsOf(req: Request, { source, dryRun, notes }: Options): SyncOptions {
  const { id: by } = principalOf(req);
  return defined({ source, dryRun, notes, by });
}
