// `npm run temporal -- ARGS`: the very Temporal CLI of the stack that runs on SIGNALBOX_DATA, at its address.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isAlive } from './lock.mjs';

const dataDir = resolve(process.env.SIGNALBOX_DATA || '.signalbox');

function runningStack() {
  try {
    const note = JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'));
    return isAlive(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

const stack = runningStack();
const address = process.env.TEMPORAL_ADDRESS || stack?.temporal.address;
if (!address) {
  console.error(
    `No stack runs on ${dataDir}. Start one with npm start, or set SIGNALBOX_DATA to the folder of the one that runs.`,
  );
  process.exit(1);
}
const ended = spawnSync(stack?.temporal.binary ?? 'temporal', process.argv.slice(2), {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: process.env.TEMPORAL_NAMESPACE || stack?.temporal.namespace || 'signalbox',
  },
});
if (ended.error) {
  console.error(
    `The Temporal CLI could not be run (${ended.error.message}). Install it, or start the stack without TEMPORAL_ADDRESS.`,
  );
  process.exit(1);
}
process.exit(ended.status ?? 1);
