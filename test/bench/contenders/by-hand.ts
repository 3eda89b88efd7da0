/** Workflows written by hand on the same Temporal server, driven by the SDK's client. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { Contender } from './contender.ts';

const TASK_QUEUE = 'bench-hand';

/** Two contenders with one worker: regular and local activities. The worker has the SDK's default settings. */
export async function byHand(
  address: string,
  serverPids: readonly number[],
  folder: string,
): Promise<{ readonly regular: Contender; readonly local: Contender; stop(): Promise<void> }> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./hand-workflows.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  });
  const bundle = join(folder, 'hand.js');
  writeFileSync(bundle, code);
  const child = fork(fileURLToPath(new URL('./hand-worker.mjs', import.meta.url)), [address, TASK_QUEUE, bundle], {
    execArgv: [],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', () => reject(new Error('The worker by hand did not start.')));
  });
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection });
  const contender = (name: string, isLocal: boolean): Contender => ({
    name,
    settings: 'the same Temporal server; a worker with default settings, driven by the client of the SDK',
    sequence: async (count) => {
      const options = { workflowId: randomUUID(), taskQueue: TASK_QUEUE, args: [count, isLocal] };
      await workflow.execute('sequence', options);
    },
    park: async () => {
      const workflowId = randomUUID();
      await workflow.start('approval', { workflowId, taskQueue: TASK_QUEUE, args: [isLocal] });
      return workflowId;
    },
    approve: async (id) => {
      const handle = workflow.getHandle(id);
      await handle.signal('approve');
      await handle.result();
    },
    processes: [child.pid ?? 0, ...serverPids],
    ...(isLocal || child.pid === undefined ? {} : { worker: child.pid }),
    stop: async () => undefined,
  });
  return {
    regular: contender('Temporal by hand', false),
    local: contender('Temporal by hand, local activities', true),
    stop: async () => {
      await connection.close();
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await gone;
    },
  };
}
