/**
 * Actors whose history is the record. They only stay open, so that the server keeps the history whatever the retention.
 * They never continue as new, because the server would delete the closed execution in time.
 */
import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import type { VersionStart } from '../../src/contract/actors.ts';
import type { AuditedChange, AuditedOutcome, AuditStart } from '../../src/contract/organization/audit.ts';
import { runUncancellable } from './uncancellable.ts';

/**
 * `ver.{org}.{workflow}.{hash}`: one immutable definition (ARCHITECTURE.md §4). It is read from the first event of the
 * history, which needs no worker.
 */
export function version(_start: VersionStart): Promise<void> {
  return runUncancellable(() => condition(() => false));
}

/**
 * `audit.{org}.{yyyy-mm}`: the changes of a month, as signals (src/client/organization/audit.ts reads them). When the
 * history is long, the month continues in `audit.{org}.{yyyy-mm}.2`.
 */
export function audit(_start: AuditStart): Promise<void> {
  return runUncancellable(() => {
    setHandler(defineSignal<[AuditedChange]>('change'), () => undefined);
    setHandler(defineSignal<[AuditedOutcome]>('outcome'), () => undefined);
    return condition(() => false);
  });
}
