// For `--import`: when a process of Signalbox ends, it writes which parts of the SDK and of Node it has changed
// (src/temporal-internals) into the folder SDK_CHANGES, as a file of JSON named by what it ran.
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isMainThread, Worker } from 'node:worker_threads';
import * as sdk from '../../dist/src/temporal-internals/sdk.js';

const parts = {
  codec: () => sdk.WorkflowCodecRunner.prototype.decodeActivation,
  externalStorage: () => sdk.payloadVisitor.visit,
  logger: () => sdk.LoggerWithComposedMetadata.prototype.trace,
  storageOptions: () => sdk.storageVisitor.extstoreStoreOptions,
  thread: () => Worker.prototype.postMessage,
};
const before = Object.values(parts).map((part) => part());

if (isMainThread)
  process.on('exit', () => {
    const changed = Object.keys(parts).filter((name, index) => parts[name]() !== before[index]);
    const file = `${basename(process.argv[1] ?? 'node')}.json`;
    writeFileSync(join(process.env.SDK_CHANGES, file), JSON.stringify(changed));
  });
