import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './lock.mjs';

// Finds a running stack by its data folder, which contains stack.json, or by the port of its gateway. For the port, a
// file in the user's cache names the data folder. Both are checked against the process that they name.

/** The stack.json of a data folder, whether or not its stack still runs. */
export function readStackNote(dataDir) {
  try {
    const note = JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'));
    return typeof note === 'object' && note !== null && 'temporal' in note ? note : undefined;
  } catch {
    return undefined;
  }
}

/** The running stack of a data folder. */
export function runningStack(dataDir) {
  const note = readStackNote(dataDir);
  return note && isAlive(note) ? note : undefined;
}

/** The running stack whose gateway listens on this port, if this user started it. */
export function stackOnPort(port, env) {
  try {
    const { dataDir } = JSON.parse(readFileSync(portFile(port, env), 'utf8'));
    const note = runningStack(dataDir);
    return note?.gateway !== undefined && portOf(note.gateway.url) === String(port) ? note : undefined;
  } catch {
    return undefined;
  }
}

/** Records that the gateway at `url` belongs to the stack on `dataDir`. Returns a function that removes the record. */
export function notePort(url, dataDir, env) {
  const file = portFile(portOf(url), env);
  const text = JSON.stringify({ dataDir });
  try {
    mkdirSync(portFolder(env), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    // Without a cache folder a stack can only be found by its data folder.
    return () => undefined;
  }
  return () => {
    try {
      // Another stack may have taken the port.
      if (readFileSync(file, 'utf8') === text) rmSync(file, { force: true });
    } catch {
      // The file is gone.
    }
  };
}

const portFolder = (env) => join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'signalbox', 'stacks');
const portFile = (port, env) => join(portFolder(env), `${Number(port)}.json`);

function portOf(url) {
  const { port, protocol } = new URL(url);
  return port || (protocol === 'https:' ? '443' : '80');
}
