import type { Response } from 'express';
import type { StartedRun } from '../client/run-start.ts';

/** `{executionId, status}`: 201 for a new run, 200 for the one that the same request had started before. */
export function answerStarted(res: Response, started: StartedRun, created = 201): void {
  const { executionId, status } = started;
  res.setHeader('location', `/api/executions/${encodeURIComponent(executionId)}`);
  res.status(started.created ? created : 200).json({ executionId, status });
}
