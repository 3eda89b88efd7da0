// A worker as somebody would write it: node hand-worker.mjs ADDRESS TASK_QUEUE BUNDLE. Sends `ready`.
import { readFileSync } from 'node:fs';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const [address, taskQueue, bundle] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('ERROR') });
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowBundle: { code: readFileSync(bundle, 'utf8') },
  activities: { nothing: async () => 1 },
});
const running = worker.run();
process.send('ready');
process.on('disconnect', () => worker.shutdown());
await running;
process.exit(0);
