/** `/api/workflows`: definitions, stored, read, listed, deleted and checked (ARCHITECTURE.md §5). */
import { z } from 'zod';
import { removeDefinition } from '../../../client/definitions/definitions.ts';
import { listRuns, listRunsOfWorkflow } from '../../../client/runs/run-list.ts';
import { listDefinitions } from '../../../client/versions/definition-head.ts';
import type { Definition } from '../../../definition/document/types.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { executionPage } from '../../answers/executions.ts';
import { definitionDocument, readWorkflow, validation, workflowPage } from '../../answers/workflows.ts';
import type { Gateway } from '../../http/context.ts';
import { type Call, ok, route } from '../../http/route.ts';
import { rawBodyOf } from '../../http/route-body.ts';
import { checkBody, dialectName } from '../../input/definition-input.ts';
import { webhookUrlOf } from '../../input/webhook-path.ts';
import {
  CHECK_PROBLEMS,
  DEFINITION_PROBLEMS,
  LIST_PROBLEMS,
  type ProblemCode,
  WRITE_PROBLEMS,
} from '../../validation/problem-codes.ts';
import { nameText, pageQuery, slugText } from '../../validation/validation.ts';
import { runListQuery } from '../executions/execution-list.ts';
import { runWithResumeTokens } from '../executions/resume-tokens.ts';
import { changeNotes } from './history.ts';
import { patchWorkflowRoute } from './workflow-fields.ts';
import {
  demandDefinition,
  ETAG,
  etagHeaderOf,
  IF_MATCH,
  ifMatchOf,
  STORE_ANSWERS,
  STORE_CONDITIONS,
  shownHead,
  storeChecked,
  storedAnswer,
} from './workflow-head.ts';

const workflowListQuery = z.strictObject({
  ...pageQuery(),
  enabled: z.enum(['true', 'false']).optional().describe('Only the enabled (true) or the disabled (false).'),
  tag: nameText(200).optional().describe('Only definitions with this tag.'),
});
const workflowWriteQuery = z.strictObject({ dialect: dialectName });
const workflowStoreQuery = workflowWriteQuery.extend({ notes: changeNotes.optional() });

const params = { slug: slugText };
const DOCUMENT = rawBodyOf(definitionDocument, { media: ['application/json', 'application/yaml'] });
const STORE_PROBLEMS: readonly ProblemCode[] = [
  ...WRITE_PROBLEMS,
  'invalid_yaml',
  ...CHECK_PROBLEMS,
  ...DEFINITION_PROBLEMS,
  'already_exists',
  'too_many',
  'too_large',
];

export const workflowRoutes = [
  route({
    method: 'GET',
    path: '/api/workflows',
    role: 'viewer',
    id: 'listWorkflows',
    summary: 'Lists definitions.',
    description:
      'With name, version, hash and tags, and without the steps. Rows that cannot be read, as under an unknown ' +
      'master key, are in `unreadable`. The list may lag behind by a second.',
    query: workflowListQuery,
    answers: { 200: { text: 'A page of definitions.', schema: workflowPage } },
    problems: LIST_PROBLEMS,
    handle: async ({ access, principal: { organizationId }, query: { limit, cursor, enabled, tag } }) => {
      const { unreadable, ...page } = await listDefinitions(access, organizationId, {
        limit,
        ...omitUndefined({ cursor, tag, enabled: enabled && enabled === 'true' }),
      });
      const items = page.items.map((head) => shownHead(head));
      return ok({ ...page, items, ...(unreadable.length === 0 ? {} : { unreadable }) });
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows',
    role: 'editor',
    id: 'storeWorkflow',
    summary: 'Stores a definition under its own slug.',
    description:
      'In any dialect, as JSON or YAML; a text of several lines is kept with its comments. A stored definition ' +
      'of this slug is replaced, unless `If-Match` or `If-None-Match` forbids it. A definition with problems is ' +
      'refused with all of them; the answer has its warnings.',
    query: workflowStoreQuery,
    headers: STORE_CONDITIONS,
    body: DOCUMENT,
    answers: STORE_ANSWERS,
    problems: STORE_PROBLEMS,
    handle: (call) => store(call, undefined),
  }),
  route({
    method: 'POST',
    path: '/api/workflows/validate',
    role: 'viewer',
    idempotency: 'none',
    asksTemporal: false,
    id: 'validateWorkflow',
    summary: 'Checks a definition, and stores nothing.',
    description:
      'In any dialect, as JSON or YAML. A definition with problems is answered with 200, too: `valid` is false, ' +
      'and each problem has a pointer, a code, and often a hint.',
    query: workflowWriteQuery,
    body: DOCUMENT,
    answers: { 200: { text: 'The result of the check.', schema: validation } },
    problems: ['invalid_yaml', ...CHECK_PROBLEMS],
    handle: async ({ gateway, principal: { id }, req, query: { dialect } }) => {
      const checked = await checkBody(gateway, req, { ...omitUndefined({ dialect }), persons: id !== undefined });
      const { valid, problems, warnings, hash, dialect: found } = checked;
      return ok({ valid, dialect: found, problems, warnings, ...omitUndefined({ hash }) });
    },
  }),
  route({
    method: 'PUT',
    path: '/api/workflows/:slug',
    role: 'editor',
    id: 'putWorkflow',
    summary: 'Stores a definition under a slug.',
    description: 'As `POST /api/workflows`; the address says which slug. A repeated request makes no further version.',
    params,
    query: workflowStoreQuery,
    headers: STORE_CONDITIONS,
    body: DOCUMENT,
    answers: STORE_ANSWERS,
    problems: [...STORE_PROBLEMS, 'not_found'],
    handle: ({ params: { slug }, ...call }) => store(call, slug),
  }),
  route({
    method: 'GET',
    path: '/api/workflows/:slug',
    role: 'viewer',
    id: 'getWorkflow',
    summary: 'Reads a definition.',
    description:
      'The current version in its canonical form, with the addresses of its webhooks. The header `ETag` is for ' +
      'the `If-Match` of a later write. The text of its author is at `/api/workflows/{slug}/text`.',
    params,
    answers: { 200: { text: 'The definition.', schema: readWorkflow, headers: ETAG } },
    problems: ['not_found', 'version_missing'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { slug } }) => {
      const { head, definition } = await demandDefinition(access, organizationId, slug);
      const body = { ...shownHead(head), definition, ...triggersShown(gateway, organizationId, definition) };
      return { status: 200, body, headers: etagHeaderOf(head) };
    },
  }),
  patchWorkflowRoute,
  route({
    method: 'DELETE',
    path: '/api/workflows/:slug',
    role: 'editor',
    id: 'deleteWorkflow',
    summary: 'Deletes a definition and its triggers. Active runs continue.',
    description: 'Its versions stay readable, and its slug can be stored again.',
    params,
    headers: IF_MATCH,
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'not_found', 'hash_mismatch'],
    handle: async ({ access, principal, req, params: { slug } }) => {
      const { organizationId, id: by } = principal;
      const condition = await ifMatchOf({ access, principal, req }, slug);
      await removeDefinition(access, organizationId, slug, { ...condition, ...omitUndefined({ by }) });
      return { status: 204 };
    },
  }),
  route({
    method: 'GET',
    path: '/api/workflows/:slug/executions',
    role: 'viewer',
    id: 'listWorkflowExecutions',
    summary: 'Lists the runs of a definition.',
    description: 'As `GET /api/executions` with this workflow as its filter: the same parameters and the same order.',
    params,
    query: runListQuery,
    answers: { 200: { text: 'A page of runs.', schema: executionPage } },
    problems: [...LIST_PROBLEMS, 'not_found'],
    handle: async ({ access, principal, params: { slug }, query }) => {
      const page = await listRunsOfWorkflow(access, principal.organizationId, slug, query, listRuns);
      return ok({ ...page, items: page.items.map((run) => runWithResumeTokens(access, principal, run)) });
    },
  }),
];

type StoreCall = Pick<
  Call<unknown, z.infer<typeof workflowStoreQuery>>,
  'gateway' | 'access' | 'principal' | 'query' | 'req'
>;

/** Stores the document in the body. `slug` is the slug in the address, if it has one. */
async function store(call: StoreCall, slug: string | undefined) {
  const { gateway, principal, query, req } = call;
  const { dialect, notes } = query;
  const options = { persons: principal.id !== undefined, keepsText: true, ...omitUndefined({ dialect, slug }) };
  const checked = await checkBody(gateway, req, options);
  const { definition, created, head } = await storeChecked(call, checked, notes);
  const shown = triggersShown(gateway, principal.organizationId, definition);
  return storedAnswer(created, head, { ...shown, warnings: checked.warnings });
}

/** The definition's triggers, with the addresses of its webhooks. */
function triggersShown(gateway: Gateway, org: string, definition: Definition) {
  const triggers = (definition.triggers ?? []).map(({ name, type, enabled = true, config }) => ({
    name,
    type,
    enabled,
    ...webhookUrlOf(gateway, org, omitUndefined({ type, config })),
  }));
  return triggers.length === 0 ? {} : { triggers };
}
