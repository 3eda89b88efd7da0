/**
 * The actor `audit.{org}.{yyyy-mm}`: its history is the record, and it does nothing but stay open, so that the server
 * keeps it whatever the retention. What it is told by signals is read from the history (src/client/organization/audit.ts); when that is
 * long, the month goes on in `….2`, since continuing as new would close, and so in time delete, what was told before.
 */
import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import type { AuditedChange, AuditedOutcome, AuditStart } from '../../src/contract/audit.ts';
import { stored } from './actor.ts';

export function audit(_start: AuditStart): Promise<never> {
  return stored(() => keepAudit());
}

async function keepAudit(): Promise<never> {
  setHandler(defineSignal<[AuditedChange]>('change'), () => undefined);
  setHandler(defineSignal<[AuditedOutcome]>('outcome'), () => undefined);
  for (;;) await condition(() => false);
}
