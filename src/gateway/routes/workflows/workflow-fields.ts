/** Changes of single fields of a stored definition: `PATCH /api/workflows/:slug`, `/enable`, `/disable` (document 002). */

import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { onCurrent, putDefinition } from '../../../client/definitions/definitions.ts';
import { readDefinition } from '../../../client/versions/definition-head.ts';
import type { DefinitionHead } from '../../../contract/actors.ts';
import { definitionHash } from '../../../definition/document/canonical.ts';
import type { Definition } from '../../../definition/document/types.ts';
import { defined } from '../../../json/defined.ts';
import { bodyAs } from '../../http/body.ts';
import type { Gateway } from '../../http/context.ts';
import { principalOf } from '../../http/principal.ts';
import { HttpProblem } from '../../http/problem.ts';
import { resource } from '../../http/resource.ts';
import { demandNoQuery, noMembers, pathSlug } from '../../validation/validation.ts';
import { changeNotes } from './history.ts';
import { etagOf, shownHead } from './workflow-head.ts';

export const workflowPatch = z.strictObject({
  name: z.string().min(1).max(200).optional().describe('For people.'),
  description: z.string().max(100_000).optional().describe('For readers.'),
  tags: z.array(z.string().min(1).max(100)).max(100).optional().describe('For lists; in place of those it has.'),
  enabled: z.boolean().optional().describe('False: no new run is started.'),
  notes: changeNotes.optional(),
});
type Patch = Omit<z.infer<typeof workflowPatch>, 'notes'>;

export async function patchWorkflow(gateway: Gateway, req: Request, res: Response): Promise<void> {
  demandNoQuery(req);
  const { notes, ...patch } = bodyAs(req, workflowPatch);
  await change(gateway, req, res, patch, notes);
}

export function workflowFieldRoutes(router: Router, gateway: Gateway): void {
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    resource(router, `/api/workflows/:slug/${verb}`, {
      POST: async (req, res) => {
        demandNoQuery(req);
        bodyAs(req, noMembers);
        await change(gateway, req, res, { enabled });
      },
    });
  }
}

async function change({ access }: Gateway, req: Request, res: Response, patch: Patch, notes?: string): Promise<void> {
  const { organizationId, id: by } = principalOf(req);
  const slug = pathSlug(req);
  const ifMatch = etagOf(req.get('if-match'));
  const more = defined({ notes, by });
  const head = await onCurrent(async () => {
    const found = await readDefinition(access, organizationId, slug);
    if (found === undefined) throw new HttpProblem('not_found', `There is no workflow called ${slug}.`);
    const definition = patched(found.definition, patch);
    const answer = await putDefinition(access, organizationId, {
      definition,
      hash: definitionHash(definition),
      source: 'update',
      ifRevision: found.head.revision,
      ...defined({ ifMatch }),
      ...more,
    });
    return answer.head;
  });
  answer(res, head);
}

function patched(definition: Definition, patch: Patch): Definition {
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
  return { ...definition, ...given };
}

function answer(res: Response, head: DefinitionHead): void {
  res.setHeader('etag', `"${head.hash}"`);
  res.json(shownHead(head));
}
