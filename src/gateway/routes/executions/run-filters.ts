/** The filters of run lists, in queries and in the bodies of bulk operations. */

import { z } from 'zod';
import {
  LISTED_STATUSES,
  type ListedStatus,
  type Range,
  type RunFilter,
  STATUS_ALIASES,
} from '../../../client/runs/run-list.ts';
import { ALLOY_FILTER_NAMES } from '../../../compat/alloy/filter-names.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { nameText } from '../../validation/validation.ts';

const text = nameText(1_000);
const STATUSES: readonly string[] = [...LISTED_STATUSES, ...Object.keys(STATUS_ALIASES)];
const DAY_MS = 86_400_000;

/** `a,b`, or a list, as a list. */
const splitCommas = (given: string | readonly string[]): readonly string[] =>
  (typeof given === 'string' ? [given] : given).flatMap((one) => one.split(','));
const commaList = z.union([z.string(), z.array(z.string()).max(20)]).transform(splitCommas);

const WAIT_KINDS = ['approval', 'input', 'message', 'callback', 'timer', 'child', 'slot'] as const;
const waitKinds = commaList.pipe(
  z.array(z.enum(WAIT_KINDS, { error: `Expected kinds out of ${WAIT_KINDS.join(', ')}.` })).readonly(),
);

/** Error codes, which Visibility does not know: lists and bulk retries read them. */
export const errorCodes = commaList
  .pipe(z.array(nameText(200)).min(1).max(20).readonly())
  .describe('Runs that failed or were terminated with one of these error codes, separated by commas.');

/** `failed,aborted`, or a list. */
const statuses = commaList
  .refine((names) => names.every((name) => STATUSES.includes(name)), `Expected statuses out of ${STATUSES.join(', ')}.`)
  .transform((names) => names.map((name) => STATUS_ALIASES[name] ?? (name as ListedStatus)));

const boundsOf = (bound: z.ZodType<number>) =>
  z
    .strictObject({
      eq: bound.optional().describe('Equal to this.'),
      gt: bound.optional().describe('Greater than this.'),
      gte: bound.optional().describe('Greater than or equal to this.'),
      lt: bound.optional().describe('Less than this.'),
      lte: bound.optional().describe('Less than or equal to this.'),
    })
    .transform((bounds) => bounds as Range);

const rangeOf = (bound: z.ZodType<number>) => z.union([bound.transform((eq): Range => ({ eq })), boundsOf(bound)]);

const writtenNumber = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,6})?$/, 'Expected a number.')
  .transform(Number);
const jsonNumber = z.number().min(0).max(1e12);

const day = z.iso.date().transform((value) => Date.parse(value));
const instant = z.iso
  .datetime({ offset: true, local: true })
  .transform((value) => Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`));
const date = z.union([instant, day], 'Expected a date in ISO 8601.');
/** A day without a time means the whole day. */
const dates = z.union(
  [
    day.transform((start): Range => ({ gte: start, lt: start + DAY_MS })),
    instant.transform((eq): Range => ({ eq })),
    boundsOf(date),
  ],
  'Expected a date in ISO 8601, or bounds by eq, gt, gte, lt and lte.',
);

const filtersWith = (number: z.ZodType<number>, stateValue: z.ZodType<string>) => ({
  status: statuses.describe(`Any of these, separated by commas: ${STATUSES.join(', ')}.`),
  waitingFor: waitKinds.describe(
    `Open runs that wait for any of these, separated by commas: ${WAIT_KINDS.join(', ')}.`,
  ),
  workflowId: text.describe('The slug of the workflow.'),
  executionId: text.describe('One run, by its id.'),
  conversationId: text.describe('The conversation that the run belongs to.'),
  channel: text.describe('The channel that the run came by.'),
  aiEmployeeId: text.describe('The AI employee of the run.'),
  model: text.describe('A model that the run used.'),
  triggerId: text.describe('The id of the trigger that started the run.'),
  triggerType: text.describe('The trigger type: manual, webhook, schedule, event, inline, subworkflow, temporal.'),
  tag: text.describe('A tag of the workflow.'),
  state: z.record(nameText(200), stateValue).describe('Searchable state: `state[key]=value`.'),
  started: dates.describe('When it started: an instant, or a day (ISO 8601).'),
  ended: dates.describe('When it ended: an instant, or a day (ISO 8601).'),
  duration: rangeOf(number.transform((value) => value * 1000)).describe('In seconds.'),
  tokens: rangeOf(number).describe('Tokens that its models used.'),
});

type Filters = { [name in keyof ReturnType<typeof filtersWith>]: z.infer<ReturnType<typeof filtersWith>[name]> };

const ALLOY_NAMES: { readonly [name: string]: keyof Filters } = ALLOY_FILTER_NAMES;

const shapeOf = (filters: ReturnType<typeof filtersWith>): { [name: string]: z.ZodOptional<z.ZodType> } =>
  Object.fromEntries([
    ...Object.entries(filters).map(([name, schema]) => [name, schema.optional()]),
    ...Object.entries(ALLOY_NAMES).map(([name, meant]) => [
      name,
      filters[meant].optional().describe(`Another name of ${meant}.`),
    ]),
  ]);

/** Members of a query. */
export const filterQuery = shapeOf(filtersWith(writtenNumber, text));
/** Members of a JSON object. */
export const filterBody = shapeOf(filtersWith(jsonNumber, z.union([text, z.number(), z.boolean()]).transform(String)));

/** The filters that members mean under any of their names. Other members are dropped. */
export function filterOf(given: { readonly [name: string]: unknown }): Omit<RunFilter, 'limit' | 'cursor'> {
  const meant: Partial<Filters> & { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && Object.hasOwn(filterBody, name)) meant[ALLOY_NAMES[name] ?? name] = value;
  const { aiEmployeeId, waitingFor, ...rest } = meant;
  return { ...(rest as unknown as RunFilter), ...omitUndefined({ employeeId: aiEmployeeId, awaited: waitingFor }) };
}
