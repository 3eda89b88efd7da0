/** Queries of run lists: the filters of documents 002 and 004, in camelCase and in snake_case (design.md §5). */
import { z } from 'zod';
import type { Page } from '../client/listing.ts';
import { listRuns, type RunFilter } from '../client/run-list.ts';
import type { ExecutionView } from '../client/run-view.ts';
import type { Gateway } from './context.ts';
import { pageQuery } from './door.ts';
import { filterOf, filterQuery } from './run-filters.ts';

const exclude = z
  .string()
  .regex(
    /^(flow|state|input|output|definition)(,(flow|state|input|output|definition))*$/,
    'Expected parts out of flow, state, input, output, definition.',
  )
  .optional()
  .describe('Parts that are left out, divided by commas.');

const members = { ...pageQuery(), ...filterQuery, exclude };

/** The whole query of a run list, as the filter that it means. Lists hold neither input nor output nor definition anyway. */
export const runListQuery: z.ZodType<RunFilter> = z
  .strictObject(members)
  .transform(({ limit, cursor, exclude: _exclude, ...given }): RunFilter => pageOf(limit, cursor, given));

/** As runListQuery, where `exclude` makes a difference: document 004's lists. */
export const fullListQuery: z.ZodType<RunFilter & { readonly exclude: boolean }> = z
  .strictObject(members)
  .transform(({ limit, cursor, exclude, ...given }) => ({
    ...pageOf(limit, cursor, given),
    exclude: exclude !== undefined,
  }));

function pageOf(limit: number, cursor: string | undefined, given: { [name: string]: unknown }): RunFilter {
  return { ...filterOf(given), limit, ...(cursor === undefined ? {} : { cursor }) };
}

export function listedRuns(gateway: Gateway, organizationId: string, filter: RunFilter): Promise<Page<ExecutionView>> {
  return listRuns(gateway.access, organizationId, filter);
}
