// `npm run temporal -- ARGS`: the very Temporal CLI of a stack that runs on this machine, at its address. The stack is
// the one on SIGNALBOX_DATA, else the one whose gateway listens on SIGNALBOX_PORT, else the one on .signalbox.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { runningStack, stackOnPort } from './stacks.mjs';

const { SIGNALBOX_DATA: data, SIGNALBOX_PORT: port = '' } = process.env;
const dataDir = resolve(data || '.signalbox');
const isByPort = !data && /^[1-9]\d{0,4}$/.test(port);

const stack = isByPort ? (stackOnPort(port, process.env) ?? ofPort(runningStack(dataDir))) : runningStack(dataDir);
const address = process.env.TEMPORAL_ADDRESS || stack?.temporal.address;
if (!address) {
  console.error(
    isByPort
      ? `No stack of this user has its gateway on port ${port}. Start one with npm start, or set SIGNALBOX_DATA to the folder of the one that runs.`
      : `No stack runs on ${dataDir}. Start one with npm start, or set SIGNALBOX_DATA or SIGNALBOX_PORT to those of the one that runs.`,
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

/** Where the cache folder cannot be written, the usual data folder is asked all the same. */
function ofPort(note) {
  return note?.gateway !== undefined && new URL(note.gateway.url).port === port ? note : undefined;
}
