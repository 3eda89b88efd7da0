/** Queries of run lists: the filters of documents 002 and 004, in camelCase and in snake_case (ARCHITECTURE.md §5). */

import { z } from 'zod';
import type { ListedStatus, RunFilter } from '../../../client/runs/run-list.ts';
import { defined } from '../../../json/defined.ts';
import { pageQuery } from '../../validation/validation.ts';
import { filterOf, filterQuery } from './run-filters.ts';

const exclude = z
  .string()
  .regex(
    /^(flow|state|input|output|definition)(,(flow|state|input|output|definition))*$/,
    'Expected parts out of flow, state, input, output, definition.',
  )
  .optional()
  .describe('Parts to leave out, separated by commas.');

const members = { ...pageQuery(), ...filterQuery, exclude };

/** The query of a run list as a filter. `exclude` has no effect: these lists have no input, output or definition. */
export const runListQuery: z.ZodType<RunFilter> = z
  .strictObject(members)
  .transform(({ limit, cursor, exclude: _exclude, ...given }): RunFilter => pageOf(limit, cursor, given));

/** Statuses that document 004 shows under one name. */
const SHOWN_TOGETHER: { readonly [status in ListedStatus]?: readonly ListedStatus[] } = {
  aborted: ['aborted', 'cancelled'],
  running: ['running', 'rolling_back'],
};

/** Like runListQuery, for document 004's lists: they honour `exclude` and show fewer statuses. */
export const fullListQuery: z.ZodType<RunFilter & { readonly exclude: boolean }> = z
  .strictObject(members)
  .transform(({ limit, cursor, exclude, ...given }) => {
    const { status, ...filter } = pageOf(limit, cursor, given);
    const shown = status?.flatMap((one) => SHOWN_TOGETHER[one] ?? one);
    return {
      ...filter,
      ...(shown === undefined ? {} : { status: [...new Set(shown)] }),
      exclude: exclude !== undefined,
    };
  });

function pageOf(limit: number, cursor: string | undefined, given: { [name: string]: unknown }): RunFilter {
  return { ...filterOf(given), limit, ...defined({ cursor }) };
}
