/** Changes single fields of a definition: `PATCH /api/workflows/:slug`, `/enable`, `/disable`. */
import { z } from 'zod';
import { putDefinition, retryOnConflict } from '../../../client/definitions/definitions.ts';
import type { Access } from '../../../client/temporal/access.ts';
import { readText, type WrittenText } from '../../../client/versions/texts.ts';
import type { DefinitionHead } from '../../../contract/actors.ts';
import { definitionHash } from '../../../definition/document/canonical.ts';
import { withMembers } from '../../../definition/document/source-text.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { workflowHead } from '../../answers/workflows.ts';
import { type Call, route } from '../../http/route.ts';
import { emptyBody, jsonOf } from '../../http/route-body.ts';
import { shownName, slugText } from '../../validation/validation.ts';
import { changeNotes } from './history.ts';
import { demandDefinition, ETAG, etagHeaderOf, IF_MATCH, ifMatchOf, PUT_PROBLEMS, shownHead } from './workflow-head.ts';

const workflowPatch = z.strictObject({
  name: shownName(200).optional().describe('For people.'),
  description: z.string().max(100_000).optional().describe('For readers.'),
  tags: z.array(z.string().min(1).max(100)).max(100).optional().describe('For lists. They replace the present tags.'),
  enabled: z.boolean().optional().describe('false: no new runs start.'),
  notes: changeNotes.optional(),
});
type Patch = Omit<z.infer<typeof workflowPatch>, 'notes'>;

const params = { slug: slugText };

export const patchWorkflowRoute = route({
  method: 'PATCH',
  path: '/api/workflows/:slug',
  role: 'editor',
  id: 'patchWorkflow',
  summary: 'Changes single fields of a definition.',
  description:
    'Steps and triggers stay; of the text of the author only these members change, and its comments stay. ' +
    'Members that are left out stay as they are.',
  params,
  headers: IF_MATCH,
  body: jsonOf(workflowPatch),
  answers: { 200: { text: 'Changed.', schema: workflowHead, headers: ETAG } },
  problems: PUT_PROBLEMS,
  handle: ({ body: { notes, ...patch }, ...call }) => patchDefinition(call, patch, notes),
});

export const workflowFieldRoutes = [
  enabledRoute('enable', 'Enables a workflow: new runs can start.', 'Its triggers fire again.'),
  enabledRoute(
    'disable',
    'Disables a workflow: no new run starts. Active runs continue.',
    'Starts are refused (`workflow_disabled`), whoever or whatever asks for them, until it is enabled.',
  ),
];

function enabledRoute<Verb extends 'enable' | 'disable'>(verb: Verb, summary: string, description: string) {
  return route({
    method: 'POST',
    path: `/api/workflows/:slug/${verb}` as const,
    role: 'editor',
    id: `${verb}Workflow`,
    summary,
    description,
    params,
    headers: IF_MATCH,
    body: emptyBody(),
    answers: { 200: { text: 'Done.', schema: workflowHead, headers: ETAG } },
    problems: PUT_PROBLEMS,
    handle: (call) => patchDefinition(call, { enabled: verb === 'enable' }),
  });
}

/** Stores the definition with changed fields. */
async function patchDefinition(
  { access, principal, params: { slug }, req }: Pick<Call<{ slug: string }>, 'access' | 'principal' | 'params' | 'req'>,
  patch: Patch,
  notes?: string,
) {
  const { organizationId, id: by } = principal;
  const condition = await ifMatchOf({ access, principal, req }, slug);
  const head = await retryOnConflict(async () => {
    const found = await demandDefinition(access, organizationId, slug);
    const definition = { ...found.definition, ...omitUndefined(patch) };
    const hash = definitionHash(definition);
    const text = hash === found.head.hash ? undefined : await textWith(access, organizationId, found.head, patch);
    const answer = await putDefinition(access, organizationId, {
      definition,
      hash,
      source: 'update',
      ifRevision: found.head.revision,
      ...condition,
      ...omitUndefined({ notes, by, text }),
    });
    return answer.head;
  });
  return { status: 200, body: shownHead(head), headers: etagHeaderOf(head) } as const;
}

/** The text of the definition with the changed fields. Undefined where there is none, or it cannot be edited. */
async function textWith(
  access: Access,
  organizationId: string,
  { slug, text: reference }: DefinitionHead,
  { enabled: _enabled, ...fields }: Patch,
): Promise<WrittenText | undefined> {
  const written = reference && (await readText(access, organizationId, slug, reference.hash));
  const text = written === undefined ? undefined : withMembers(written.text, omitUndefined(fields));
  return written === undefined || text === undefined ? undefined : { media: written.media, text };
}
