import type { Response } from 'express';
import type { StartedRun } from '../../client/runs/run-start.ts';
import type { Problem } from '../../definition/document/types.ts';
import { defined } from '../../json/defined.ts';

/** `{executionId, status}`: 201 for a new run, 200 for the one that the same request had started before. */
export function answerStarted(
  res: Response,
  started: StartedRun & { readonly warnings?: readonly Problem[] },
  created = 201,
): void {
  const { executionId, status, warnings } = started;
  res.setHeader('location', `/api/executions/${encodeURIComponent(executionId)}`);
  res.status(started.created ? created : 200).json({ executionId, status, ...defined({ warnings }) });
}
