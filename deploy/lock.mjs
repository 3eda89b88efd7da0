import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

// A lock is a file that names its holder. It is created by link(2), so its content is always complete. A holder on this
// machine counts as alive while the process with that id and start time exists; a holder on another machine (or in
// another container) while it keeps touching the file.
const TOUCH_MS = 5_000;
const STALE_MS = 30_000;

/** The start time of a process, as an opaque text for comparison; undefined if the process does not exist. */
export function processStarted(pid) {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return started === '' ? undefined : started;
  } catch {
    return undefined;
  }
}

/** Whether the process of a record {pid, host, started} still exists. */
export function isAlive(holder) {
  const started = processStarted(holder.pid);
  return started !== undefined && (holder.started === undefined || started === holder.started);
}

/** The holder in the file and when it was touched (epoch milliseconds); undefined if there is no file. */
function read(path) {
  let text;
  let touched;
  try {
    text = readFileSync(path, 'utf8');
    touched = statSync(path).mtimeMs;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return { ...JSON.parse(text), touched };
  } catch {
    // The file was not created by this module and has no holder.
    return { touched };
  }
}

function isHeld(holder) {
  if (typeof holder.pid !== 'number') return false;
  if (holder.host === hostname()) return isAlive(holder);
  return Date.now() - holder.touched < STALE_MS;
}

function create(path, content) {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, content);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Takes the lock file `path`, breaking a stale one. Returns {release} or {holder: {pid, host}}; never waits. */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const content = JSON.stringify({ pid: process.pid, host: hostname(), started: processStarted(process.pid) });
  for (let attempt = 0; attempt < 20; attempt++) {
    if (create(path, content)) {
      const touch = setInterval(() => {
        const now = new Date();
        try {
          utimesSync(path, now, now);
        } catch {
          // The folder was deleted.
        }
      }, TOUCH_MS);
      touch.unref();
      const release = () => {
        clearInterval(touch);
        if (read(path)?.pid === process.pid) rmSync(path, { force: true });
      };
      return { release };
    }
    const holder = read(path);
    if (holder === undefined) continue;
    if (isHeld(holder)) return { holder };
    // Renames the stale lock first: only one of two processes succeeds, and none removes the other's new lock.
    const aside = `${path}.stale.${process.pid}.${attempt}`;
    try {
      renameSync(path, aside);
      const moved = read(aside);
      if (moved && moved.pid !== holder.pid && isHeld(moved)) create(path, readFileSync(aside, 'utf8'));
      rmSync(aside, { force: true });
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
  throw new Error(`The lock ${path} could not be acquired in 20 attempts. Remove the file if no process uses it.`);
}

/** Runs `work` under the lock. If another process holds it, calls `onWait(holder)` once and waits. */
export async function withLock(path, onWait, work) {
  let waited = false;
  for (;;) {
    const taken = tryLock(path);
    if (taken.release) {
      try {
        return await work();
      } finally {
        taken.release();
      }
    }
    if (!waited) onWait(taken.holder);
    waited = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
