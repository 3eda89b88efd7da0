import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, fchmodSync, mkdirSync, openSync, statSync, truncateSync } from 'node:fs';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { onParentExit, sendToParent } from '../../observe/parent-process.ts';

// A small process between `start` and the Temporal server. The server does not notice the end of its parent; the keeper
// does: it ends the server when the IPC channel closes, and starts none if it has closed before. It has a process group
// of its own, so that Ctrl-C in a terminal reaches only `start`, which ends all parts in order.

/** The keeper's only argument, as JSON. */
export type KeeperTask = { binary: string; args: string[]; host: string; port: number; logFile: string };

const TERMINATE_GRACE_MS = 2_500;
const POLL_MS = 50;
const MAX_LOG_BYTES = 20_000_000;
const ROTATE_MS = 60_000;

const task = JSON.parse(process.argv[2] ?? '') as KeeperTask;
let server: ChildProcess | undefined;
let ending = false;
onParentExit(end);
process.on('SIGTERM', end);
process.on('SIGINT', end);
process.on('SIGHUP', end);
process.on('message', (message) => {
  if (message === 'end') end();
});
// The database and the log contain data of runs, so only their owner may read them.
process.umask(0o077);
mkdirSync(dirname(task.logFile), { recursive: true });
rotate();
const log = openSync(task.logFile, 'a');
// An earlier version has left it readable for all.
fchmodSync(log, 0o600);
setInterval(rotate, ROTATE_MS).unref();
server = spawn(task.binary, task.args, { stdio: ['ignore', log, log] });
server.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
server.on('spawn', () => {
  sendToParent({ pid: server?.pid });
  reportWhenListening();
});
server.on('exit', (code) => process.exit(ending ? 0 : (code ?? 1)));

function end(): void {
  if (ending) return;
  ending = true;
  if (server === undefined) process.exit(0);
  server.kill('SIGTERM');
  setTimeout(() => server?.kill('SIGKILL'), TERMINATE_GRACE_MS);
}

/** The server keeps its log open, so a long one is copied and emptied. On a full disk it grows on. */
function rotate(): void {
  const { logFile } = task;
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) <= MAX_LOG_BYTES) return;
  try {
    copyFileSync(logFile, `${logFile}.1`);
    truncateSync(logFile);
  } catch {
    // The next time may do.
  }
}

function reportWhenListening(): void {
  const socket = createConnection(task.port, task.host);
  socket.on('connect', () => {
    socket.destroy();
    sendToParent('ready');
  });
  socket.on('error', () => setTimeout(reportWhenListening, POLL_MS));
}
