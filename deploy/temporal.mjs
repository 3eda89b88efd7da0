// `npm run temporal -- ARGS`: runs the Temporal CLI of a stack on this machine, with its address. The stack is the one
// on SIGNALBOX_DATA, else the one whose gateway listens on SIGNALBOX_PORT, else the one on .signalbox.
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
      ? `No stack of this user has a gateway on port ${port}. Start one with npm start, or set SIGNALBOX_DATA ` +
          'to the folder of a running one.'
      : `No stack runs on ${dataDir}. Start one with npm start, or set SIGNALBOX_DATA or SIGNALBOX_PORT of a ` +
          'running one.',
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
    `The Temporal CLI could not be started (${ended.error.message}). Install it, or start the stack without ` +
      'TEMPORAL_ADDRESS.',
  );
  process.exit(1);
}
process.exit(ended.status ?? 1);

/** The stack on the default data folder, if its gateway has this port: the cache folder may not be writable. */
function ofPort(note) {
  return note?.gateway !== undefined && new URL(note.gateway.url).port === port ? note : undefined;
}
