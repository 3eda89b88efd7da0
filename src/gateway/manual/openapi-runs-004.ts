/** Document 004's run lists, and the graph of a definition, for the OpenAPI document. */
import { z } from 'zod';
import * as answers from '../answers/answers.ts';
import { fullListQuery } from '../routes/executions/execution-list.ts';
import { graphQuery } from '../routes/workflows/graph.ts';
import { nameText, slugText } from '../validation/validation.ts';
import { LIST_PROBLEMS, type Operation } from './openapi-operation.ts';

const org = nameText(200).describe('The organization of the key.');

const PAGES = 'A page holds at most 100 runs, also where `limit` is more: whoever wants the rest follows `nextCursor`.';

export const run004Operations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/api/workflows/:slug/graph',
    id: 'getGraph',
    tag: 'workflows',
    summary: 'The nodes and edges of a definition.',
    parameters: { slug: slugText },
    query: graphQuery,
    answers: { 200: { text: 'The graph.', schema: answers.graph } },
    problems: ['not_found', 'version_missing', 'version_not_found', 'invalid_definition'],
  },
  {
    method: 'GET',
    path: '/api/organizations/:org/workflows/runs',
    id: 'listOrganizationRuns',
    tag: 'runs',
    summary: "Lists an organization's runs with flow and state; with `exclude`, compressed.",
    description: PAGES,
    parameters: { org },
    query: fullListQuery,
    answers: { 200: { text: 'A page of runs.', schema: answers.run004Page } },
    problems: [...LIST_PROBLEMS, 'not_found'],
  },
  {
    method: 'GET',
    path: '/api/organizations/:org/workflows/:slug/runs',
    id: 'listWorkflowRuns',
    tag: 'runs',
    summary: "Lists a workflow's runs with flow and state; with `exclude`, compressed.",
    description: PAGES,
    parameters: { org, slug: slugText },
    query: fullListQuery,
    answers: { 200: { text: 'A page of runs.', schema: answers.run004Page } },
    problems: [...LIST_PROBLEMS, 'not_found'],
  },
  {
    method: 'GET',
    path: '/api/organizations/:org/workflows/:slug/runs/:run',
    id: 'getWorkflowRun',
    tag: 'runs',
    summary: 'Reads a run as document 004 shows it.',
    parameters: { org, slug: slugText, run: nameText(1_000) },
    query: z.strictObject({}),
    answers: { 200: { text: 'The run.', schema: answers.run004 } },
    problems: ['not_found'],
  },
];
