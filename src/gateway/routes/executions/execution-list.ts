/** Queries of run lists: the filters of agent-ops and alloy, in camelCase and in snake_case (ARCHITECTURE.md §5). */

import { z } from 'zod';
import type { ListedStatus, RunFilter } from '../../../client/runs/run-list.ts';
import { ROW_PARTS, type RowFilter, type RowPart } from '../../../client/runs/run-rows.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { commaSeparated, pageQuery } from '../../validation/validation.ts';
import { errorCodes, filterOf, filterQuery } from './run-filters.ts';

const exclude = z
  .string()
  .regex(
    /^((flow|state|input|output|definition)(,(flow|state|input|output|definition))*)?$/,
    'Expected parts out of flow, state, input, output, definition.',
  )
  .optional()
  .describe('Parts to leave out, separated by commas. Empty: none.');

const members = { ...pageQuery(), ...filterQuery, exclude };

const rowParts = commaSeparated(ROW_PARTS);

/** The query of a run list as a filter. `exclude` has no effect: these lists have no input, output or definition. */
export const runListQuery: z.ZodType<RowFilter & { readonly include: ReadonlySet<RowPart> }> = z
  .strictObject({
    ...members,
    errorCode: errorCodes.optional(),
    include: rowParts
      .optional()
      .describe(`Parts that lists leave out by default, separated by commas: ${ROW_PARTS.join(', ')}.`),
  })
  .transform(({ limit, cursor, exclude: _exclude, include = [], errorCode, ...given }) => ({
    ...pageOf(limit, cursor, given),
    ...omitUndefined({ errorCode }),
    include: new Set(include),
  }));

/** The filters of a run list without a status: what is counted for each status. */
export const runCountQuery = z
  .strictObject(Object.fromEntries(Object.entries(filterQuery).filter(([name]) => name !== 'status')))
  .transform((given): Omit<RunFilter, 'limit' | 'cursor' | 'status'> => filterOf(given));

/** Statuses that alloy shows under one name. */
const STATUS_GROUPS: { readonly [status in ListedStatus]?: readonly ListedStatus[] } = {
  aborted: ['aborted', 'cancelled'],
  running: ['running', 'rolling_back'],
};

/** Like runListQuery, for alloy's lists: they honour `exclude` and show fewer statuses. */
export const fullListQuery: z.ZodType<RunFilter & { readonly exclude: boolean }> = z
  .strictObject(members)
  .transform(({ limit, cursor, exclude, ...given }) => {
    const { status, ...filter } = pageOf(limit, cursor, given);
    const shown = status?.flatMap((one) => STATUS_GROUPS[one] ?? one);
    return {
      ...filter,
      ...(shown === undefined ? {} : { status: [...new Set(shown)] }),
      exclude: exclude !== undefined && exclude !== '',
    };
  });

function pageOf(limit: number, cursor: string | undefined, given: { [name: string]: unknown }): RunFilter {
  return { ...filterOf(given), limit, ...omitUndefined({ cursor }) };
}
