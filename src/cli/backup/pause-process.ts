/** Stops a process for the time of a copy of its files (SIGSTOP), and resumes it in any case (SIGCONT). */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const STOP_TIMEOUT_MS = 5_000;
const POLL_MS = 5;

/** The process did not stop before the timeout; it was resumed. */
class NotStoppedError extends Error {
  readonly code = 'not_stopped';
  constructor(pid: number) {
    super(`Process ${pid} did not stop within ${STOP_TIMEOUT_MS / 1_000} s.`);
    this.name = 'NotStoppedError';
  }
}

/**
 * Calls `act` while the process and all of its threads stand still. Also answers for how many milliseconds they did. If
 * this process is killed meanwhile, a second one resumes the stopped one.
 * @throws NotStoppedError; errors of `act`.
 */
export async function withProcessPaused<T>(
  pid: number,
  act: () => Promise<T>,
): Promise<{ result: T; stoppedMs: number }> {
  const guard = await startGuard(pid);
  const begun = performance.now();
  try {
    process.kill(pid, 'SIGSTOP');
    while (!isStopped(pid)) {
      if (performance.now() - begun > STOP_TIMEOUT_MS) throw new NotStoppedError(pid);
      await delay(POLL_MS);
    }
    const result = await act();
    process.kill(pid, 'SIGCONT');
    return { result, stoppedMs: Math.round(performance.now() - begun) };
  } finally {
    // The guard sends SIGCONT when it is alone: once more after success.
    guard.disconnect();
  }
}

/** A process that sends SIGCONT and ends as soon as this one has exited. */
async function startGuard(pid: number): Promise<ChildProcess> {
  const code =
    `process.on('disconnect', () => { try { process.kill(${pid}, 'SIGCONT'); } catch {} process.exit(); });` +
    `process.send('ready');`;
  const guard = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], detached: true });
  await new Promise<void>((resolve, reject) => {
    guard.once('message', () => resolve());
    guard.once('error', reject);
    guard.once('exit', () => reject(new Error('A process that watches over the backup ended.')));
  });
  guard.unref();
  return guard;
}

/** Whether every thread of the process has stopped. */
function isStopped(pid: number): boolean {
  if (process.platform !== 'linux')
    return execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .startsWith('T');
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
      return /^[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 2));
    } catch {
      // The thread has ended.
      return true;
    }
  });
}
