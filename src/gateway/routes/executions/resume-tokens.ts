/** Adds resume tokens to the approvals that the caller may decide (LANGUAGE.md §6). */
import { type ShownWait, shownWait, type Viewer } from '../../../client/runs/approvals.ts';
import type { Access } from '../../../client/temporal/access.ts';
import type { ShownWaitingFor } from '../../../contract/run/run.ts';

export const withResumeTokens = (
  access: Access,
  viewer: Viewer,
  executionId: string,
  waits: readonly ShownWaitingFor[],
): readonly ShownWait[] => waits.map((wait) => shownWait(access, viewer, executionId, wait));

export function runWithResumeTokens<
  Run extends { readonly id: string; readonly waitingFor: readonly ShownWaitingFor[] },
>(access: Access, viewer: Viewer, run: Run): Run & { readonly waitingFor: readonly ShownWait[] } {
  return { ...run, waitingFor: withResumeTokens(access, viewer, run.id, run.waitingFor) };
}
