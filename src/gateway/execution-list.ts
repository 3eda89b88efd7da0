/** Queries of run lists: the filters of document 004, in camelCase and in snake_case (design.md §5). */
import { z } from 'zod';
import type { Page } from '../client/listing.ts';
import {
  LISTED_STATUSES,
  type ListedStatus,
  listRuns,
  type Range,
  type RunFilter,
  STATUS_ALIASES,
} from '../client/run-list.ts';
import type { ExecutionView } from '../client/run-view.ts';
import type { Gateway } from './context.ts';
import { nameText, pageQuery } from './door.ts';

const text = nameText(1_000);
const STATUSES: readonly string[] = [...LISTED_STATUSES, ...Object.keys(STATUS_ALIASES)];

/** `status=failed,aborted`, or the parameter several times. */
const statuses = z
  .union([z.string(), z.array(z.string()).max(20)])
  .transform((given) => (Array.isArray(given) ? given : [given]).flatMap((one) => one.split(',')))
  .refine((names) => names.every((name) => STATUSES.includes(name)), `Expected statuses out of ${STATUSES.join(', ')}.`)
  .transform((names) => names.map((name) => STATUS_ALIASES[name] ?? (name as ListedStatus)));

const rangeOf = (bound: z.ZodType<number>) =>
  z.union([
    bound.transform((eq): Range => ({ eq })),
    z
      .strictObject({
        eq: bound.optional().describe('Is this.'),
        gt: bound.optional().describe('Is more.'),
        gte: bound.optional().describe('Is this or more.'),
        lt: bound.optional().describe('Is less.'),
        lte: bound.optional().describe('Is this or less.'),
      })
      .transform((bounds) => bounds as Range),
  ]);

const number = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,6})?$/, 'Expected a number.')
  .transform(Number);
const seconds = number.transform((value) => value * 1000);
const date = z
  .union([z.iso.datetime({ offset: true, local: true }), z.iso.date()], 'Expected a date in ISO 8601.')
  .transform((value) => Date.parse(/[T]/.test(value) && !/(Z|[+-]\d\d:?\d\d)$/.test(value) ? `${value}Z` : value));

const filters = {
  status: statuses.describe(`Any of these, divided by commas: ${STATUSES.join(', ')}.`),
  workflowId: text.describe('The slug of the workflow.'),
  executionId: text.describe('One run, by its id.'),
  conversationId: text.describe('The conversation that the run belongs to.'),
  channel: text.describe('The channel that the run came by.'),
  aiEmployeeId: text.describe('The employee who runs.'),
  model: text.describe('A model that the run used.'),
  triggerId: text.describe('What started the run, by its id.'),
  triggerType: text.describe('What started the run: manual, webhook, schedule, event, inline, subworkflow, temporal.'),
  tag: text.describe('A tag of the workflow.'),
  state: z.record(nameText(200), text).describe('Searchable state: `state[key]=value`.'),
  started: rangeOf(date).describe('When it started: an instant, or a day (ISO 8601).'),
  ended: rangeOf(date).describe('When it ended.'),
  duration: rangeOf(seconds).describe('In seconds.'),
  tokens: rangeOf(number).describe('Tokens that its models took.'),
  /** Parts of an answer that are left out. Lists hold neither input nor output nor definition anyway. */
  exclude: z
    .string()
    .regex(
      /^(flow|state|input|output|definition)(,(flow|state|input|output|definition))*$/,
      'Expected parts out of flow, state, input, output, definition.',
    )
    .describe('Parts that are left out, divided by commas.'),
};

type Filters = { [name in keyof typeof filters]: z.infer<(typeof filters)[name]> };

/** The other names of filters: what document 004 calls them. */
const SNAKE: { readonly [name: string]: keyof Filters } = {
  workflow_id: 'workflowId',
  run_id: 'executionId',
  runId: 'executionId',
  execution_id: 'executionId',
  conversation_id: 'conversationId',
  ai_employee_id: 'aiEmployeeId',
  trigger_id: 'triggerId',
  trigger_type: 'triggerType',
};

const written = Object.fromEntries([
  ...Object.entries(filters).map(([name, schema]) => [name, schema.optional()]),
  ...Object.entries(SNAKE).map(([name, meant]) => [
    name,
    filters[meant].optional().describe(`Another name of ${meant}.`),
  ]),
]);

/** The whole query of a run list, as the filter that it means. */
export const runListQuery: z.ZodType<RunFilter> = z
  .strictObject({ ...pageQuery(), ...written })
  .transform((query): RunFilter => {
    const given: Partial<Filters> & { [name: string]: unknown } = {};
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) given[SNAKE[name] ?? name] = value;
    }
    const { exclude: _exclude, aiEmployeeId, ...rest } = given;
    return { ...(rest as unknown as RunFilter), ...(aiEmployeeId === undefined ? {} : { employeeId: aiEmployeeId }) };
  });

export function listedRuns(gateway: Gateway, organizationId: string, filter: RunFilter): Promise<Page<ExecutionView>> {
  return listRuns(gateway.access, organizationId, filter);
}
