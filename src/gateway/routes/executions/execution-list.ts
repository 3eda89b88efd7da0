/** Queries of run lists (ARCHITECTURE.md §5). */

import { z } from 'zod';
import type { RunFilter } from '../../../client/runs/run-list.ts';
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

/** What every list of runs takes. */
export const listMembers = { ...pageQuery(), ...filterQuery, exclude };

const rowParts = commaSeparated(ROW_PARTS);

/** The query of a run list as a filter. `exclude` has no effect: these lists have no input, output or definition. */
export const runListQuery: z.ZodType<RowFilter & { readonly include: ReadonlySet<RowPart> }> = z
  .strictObject({
    ...listMembers,
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

/** The filter that checked members of a query mean. */
export function pageOf(limit: number, cursor: string | undefined, given: { [name: string]: unknown }): RunFilter {
  return { ...filterOf(given), limit, ...omitUndefined({ cursor }) };
}
