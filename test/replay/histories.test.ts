import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleWorkflows } from '../../workers/bundle.ts';

// Every stored history of every version is replayed with the interpreter as it is now: a run in flight must find its
// way after an upgrade. What fails here would leave such runs stuck. Recorded by test/histories/record.ts.

const root = fileURLToPath(new URL('../histories', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .sort();

let folder: string;
let bundle: string;
beforeAll(async () => {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
  });
  folder = mkdtempSync(join(tmpdir(), 'signalbox-replay-'));
  bundle = join(folder, 'bundle.js');
  await bundleWorkflows(bundle);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('histories of earlier runs', () => {
  it('replay, whatever history limit the worker has now', async () => {
    expect(files.length).toBeGreaterThanOrEqual(4);
    const histories = files.map((file) => {
      const history = JSON.parse(readFileSync(join(root, file), 'utf8'));
      // The ids of a run's children derive from its own.
      const { workflowId } = history.events[0].workflowExecutionStartedEventAttributes;
      return { workflowId: typeof workflowId === 'string' ? workflowId : relative('.', file), history };
    });
    const failures: string[] = [];
    let replayed = 0;
    for await (const { workflowId, error } of Worker.runReplayHistories(
      { workflowBundle: { codePath: bundle } },
      histories,
    )) {
      replayed++;
      if (error !== undefined) failures.push(`${workflowId}: ${error.message}`);
    }
    expect(failures).toEqual([]);
    expect(replayed).toBe(files.length);
  });
});
