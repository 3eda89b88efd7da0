/** Runs as the caller may see them: with the resume tokens of the approvals that are theirs to decide (LANGUAGE.md §6). */
import type { Request } from 'express';
import { type ShownWait, shownWait } from '../../../client/runs/approvals.ts';
import type { Access } from '../../../client/temporal/access.ts';
import type { WaitingFor } from '../../../contract/run.ts';
import { principalOf } from '../../http/principal.ts';

export function shownWaits(
  access: Access,
  req: Request,
  executionId: string,
  waits: readonly WaitingFor[],
): readonly ShownWait[] {
  const viewer = principalOf(req);
  return waits.map((wait) => shownWait(access, viewer, executionId, wait));
}

export function shownRun<Run extends { readonly id: string; readonly waitingFor: readonly WaitingFor[] }>(
  access: Access,
  req: Request,
  run: Run,
): Run & { readonly waitingFor: readonly ShownWait[] } {
  return { ...run, waitingFor: shownWaits(access, req, run.id, run.waitingFor) };
}
