/** Nodes and edges of a definition, for drawing it: of a version, of a run, and of a draft. */
import { z } from 'zod';
import { readSnapshot } from '../../../client/runs/run-state.ts';
import { versionReader } from '../../../client/versions/version-history.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { definitionDocument, draftGraph, graph, runGraph } from '../../answers/workflows.ts';
import { ok, route } from '../../http/route.ts';
import { rawBodyOf } from '../../http/route-body.ts';
import { dialectName, drawBody } from '../../input/definition-input.ts';
import { offloadGraph } from '../../input/offload.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { CHECK_PROBLEMS } from '../../validation/problem-codes.ts';
import { pathName, slugText } from '../../validation/validation.ts';
import { demandDefinition } from './workflow-head.ts';

const DOCUMENT = rawBodyOf(definitionDocument, { media: ['application/json', 'application/yaml'] });

const graphQuery = z.strictObject({
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'Expected sha256: and 64 hexadecimal digits.')
    .optional()
    .describe('The hash of a version. Default: the current version.'),
});

export const graphRoutes = [
  route({
    method: 'GET',
    path: '/api/workflows/:slug/graph',
    role: 'viewer',
    id: 'getGraph',
    summary: 'Reads the nodes and edges of a definition.',
    description:
      'For drawing: steps are nodes and ports are edges. Of the current version, or of the one that `hash` ' + 'names.',
    params: { slug: slugText },
    query: graphQuery,
    answers: { 200: { text: 'The graph.', schema: graph } },
    problems: ['not_found', 'version_missing', 'version_not_found', 'invalid_definition'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { slug }, query: { hash } }) => {
      const current = await demandDefinition(access, organizationId, slug);
      const definition =
        hash === undefined ? current.definition : await (await versionReader(access, organizationId, slug))(hash);
      const result = await offloadGraph(gateway, organizationId, definition);
      if ('problems' in result)
        throw new HttpProblem('invalid_definition', 'This version cannot be walked any more.', result);
      return ok({ slug, hash: hash ?? current.head.hash, ...result.graph });
    },
  }),
  route({
    method: 'GET',
    path: '/api/executions/:id/graph',
    role: 'viewer',
    id: 'getExecutionGraph',
    tag: 'executions',
    summary: 'Reads the nodes and edges of the definition of a run, as it was when the run began.',
    description: 'Also for an inline run, and for a run whose workflow was changed or deleted since.',
    params: { id: pathName },
    answers: { 200: { text: 'The graph.', schema: runGraph } },
    problems: ['not_found', 'invalid_definition'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { id } }) => {
      const { workflowId: slug, workflowHash: hash, definition } = await readSnapshot(access, organizationId, id);
      const result = await offloadGraph(gateway, organizationId, definition);
      if ('problems' in result)
        throw new HttpProblem('invalid_definition', 'The run has a definition that cannot be walked.', result);
      return ok({ slug, ...omitUndefined({ hash }), ...result.graph });
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows/graph',
    role: 'viewer',
    idempotency: 'none',
    asksTemporal: false,
    isAudited: false,
    id: 'drawWorkflow',
    summary: 'Reads the nodes and edges of a draft, also of one with problems, and stores nothing.',
    description:
      'Edges that lead to no step are left out. A step of an unknown type has the kind `unknown`. Tools are not ' +
      'checked.',
    query: z.strictObject({ dialect: dialectName }),
    body: DOCUMENT,
    answers: { 200: { text: 'The graph, and the problems of the draft.', schema: draftGraph } },
    problems: ['invalid_yaml', ...CHECK_PROBLEMS],
    handle: async ({ gateway, principal: { id }, req, query: { dialect } }) => {
      const drawn = await drawBody(gateway, req, { ...omitUndefined({ dialect }), persons: id !== undefined });
      const { graph, ...rest } = drawn;
      return ok({ ...graph, ...rest });
    },
  }),
];
