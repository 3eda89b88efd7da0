/**
 * The actor `ver.{org}.{workflow}.{hash}`: one immutable definition (ARCHITECTURE.md §4). Whoever wants it reads the first
 * event of its history, for which no worker is needed; the workflow only has to stay open, so that Temporal keeps it.
 */
import { condition } from '@temporalio/workflow';
import type { VersionStart } from '../../src/contract/actors.ts';
import { stored } from './actor.ts';

export function version(_start: VersionStart): Promise<void> {
  return stored(() => condition(() => false));
}
