/** The query of alloy's run lists. */

import { z } from 'zod';
import type { ListedStatus, RunFilter } from '../../../client/runs/run-list.ts';
import { listMembers, pageOf } from '../../../gateway/routes/executions/execution-list.ts';

/** Statuses that alloy shows under one name. */
const STATUS_GROUPS: { readonly [status in ListedStatus]?: readonly ListedStatus[] } = {
  aborted: ['aborted', 'cancelled'],
  running: ['running', 'rolling_back'],
};

/** Like runListQuery, but these lists honour `exclude` and show fewer statuses. */
export const alloyListQuery: z.ZodType<RunFilter & { readonly exclude: boolean }> = z
  .strictObject(listMembers)
  .transform(({ limit, cursor, exclude, ...given }) => {
    const { status, ...filter } = pageOf(limit, cursor, given);
    const shown = status?.flatMap((one) => STATUS_GROUPS[one] ?? one);
    return {
      ...filter,
      ...(shown === undefined ? {} : { status: [...new Set(shown)] }),
      exclude: exclude !== undefined && exclude !== '',
    };
  });
