/** A refused update is not in history, so no decision of a run may depend on it: a replay would decide otherwise. */

import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';
import { sharedServer } from '../../support/temporal.ts';
import { startRun, waitsAt } from './run-support.ts';

const LIMIT = 30;

const { server } = sharedServer({ SIGNALBOX_HISTORY_LIMIT: String(LIMIT) });

it('replays every part of a run whose updates are refused right where it would continue as new', async () => {
  const handle = await startRun(server, {
    name: 'Refusals',
    slug: 'refusals',
    steps: {
      again: { stepType: 'loop', config: { while: 'true' }, nextSteps: { loop: 'rest' } },
      rest: { stepType: 'sleep', config: { duration: '1h' }, nextSteps: { success: 'again' } },
    },
  });
  await waitsAt(handle, 'again~0/rest');
  const parts = new Set<string>();
  for (let n = 0; n < 60; n++) {
    await handle.signal('skipTimer', {});
    await expect(handle.executeUpdate('approve', { args: [{ step: 'nowhere' }] })).rejects.toThrow();
    parts.add((await handle.describe()).runId);
  }
  await handle.terminate();
  expect(parts.size).toBeGreaterThan(3);

  const histories = await Promise.all(
    [...parts].map(async (runId) => ({
      workflowId: runId,
      history: await server.client.workflow.getHandle(handle.workflowId, runId).fetchHistory(),
    })),
  );
  const failures: string[] = [];
  for await (const { error } of Worker.runReplayHistories(
    { workflowBundle: { codePath: join(compiledRoot(), 'workflow-bundle.js') } },
    histories,
  )) {
    if (error !== undefined) failures.push(error.message);
  }
  expect(failures).toEqual([]);
}, 60_000);
