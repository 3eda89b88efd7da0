/** What the tests of upgrades share: the bundle of a later version, and who did which task of a run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { bundleWorkflows } from '../../../workers/bundle.ts';

/** Bundles next-version.ts. */
export async function nextBundle(): Promise<{ file: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-next-'));
  const file = join(folder, 'bundle.js');
  await bundleWorkflows(file, fileURLToPath(new URL('next-version.ts', import.meta.url)));
  return { file, remove: () => rmSync(folder, { recursive: true }) };
}

/** The build ids of a run's workflow tasks, in order, and whether it recorded a mark of `patched`. */
export async function tasksOf(handle: WorkflowHandle): Promise<{ buildIds: string[]; isMarked: boolean }> {
  const { events } = await handle.fetchHistory();
  return {
    buildIds: (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: done }) =>
      done ? [done.deploymentVersion?.buildId ?? done.workerVersion?.buildId ?? ''] : [],
    ),
    isMarked: (events ?? []).some(({ markerRecordedEventAttributes: marker }) => marker?.markerName === 'core_patch'),
  };
}
