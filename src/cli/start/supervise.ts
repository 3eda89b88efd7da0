import type { ChildProcess, Serializable } from 'node:child_process';
import type { Say } from './say.ts';

/** A child process that is restarted when it dies, until it is ended. */
export type Supervised = {
  /** The id of the running process. */
  pid(): number | undefined;
  /** Sends the running process a message. False if there is none. */
  send(message: Serializable): boolean;
  /** Asks the child to end, and kills it after `withinMs`. Resolves when it has exited. */
  end(withinMs: number): Promise<void>;
  /** Kills the child immediately. */
  kill(): void;
};

type SuperviseOptions = {
  name: string;
  fork: () => ChildProcess;
  say: Say;
  readyWithinMs: number;
  onMessage?: (message: unknown) => void;
  /** Called after a restart, when the child is ready again. */
  onReadyAgain?: () => void;
  /** Called when a child has died, even before it was ready, to clean up before the next start. */
  onDeath?: (pid: number | undefined) => void;
  /** The child is not restarted: called with the reason when it has ended after it was ready. */
  onEnd?: (reason: string) => void;
};

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** After this uptime a child counts as healthy, and the pauses start over. */
const HEALTHY_MS = 60_000;

/**
 * Starts a child and resolves when it has sent `ready`.
 * @throws Error if the first child ends or is not ready before its deadline; later ones are retried forever, with
 *   growing pauses.
 */
export async function supervise(options: SuperviseOptions): Promise<Supervised> {
  const { name, say } = options;
  let child: ChildProcess;
  let ending = false;
  let pauseMs = FIRST_PAUSE_MS;
  let nextStart: NodeJS.Timeout | undefined;

  const launch = (): Promise<void> => {
    const begun = Date.now();
    const launched = options.fork();
    child = launched;
    let isReady = false;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        launched.kill('SIGKILL');
        reject(new Error(`${name} was not ready within ${Math.round(options.readyWithinMs / 1000)} s.`));
      }, options.readyWithinMs);
      launched.on('message', (message) => {
        if (message === 'ready') {
          isReady = true;
          clearTimeout(late);
          resolve();
        } else options.onMessage?.(message);
      });
      launched.on('error', (error) => {
        clearTimeout(late);
        reject(error);
      });
      launched.once('exit', (code, signal) => {
        clearTimeout(late);
        reject(new Error(`${name} ended before it was ready (${signal ?? `exit code ${code}`}).`));
        if (ending) return;
        options.onDeath?.(launched.pid);
        // If it was never ready, the caller of launch() handles the error.
        if (!isReady) return;
        if (Date.now() - begun > HEALTHY_MS) pauseMs = FIRST_PAUSE_MS;
        const reason = `${name} ended unexpectedly (${signal ?? `exit code ${code}`}).`;
        say(reason);
        if (options.onEnd === undefined) restart();
        else options.onEnd(reason);
      });
    });
  };

  const restart = (): void => {
    if (ending) return;
    say(`${name} restarts in ${pauseMs / 1000} s.`);
    nextStart = setTimeout(() => {
      launch().then(() => {
        say(`${name} is ready again.`);
        options.onReadyAgain?.();
      }, restart);
    }, pauseMs);
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  };

  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;

  const supervised: Supervised = {
    pid: () => (hasEnded() ? undefined : child.pid),
    send: (message) => {
      if (hasEnded() || !child.connected) return false;
      // `onDeath` reports the end to those who wait for an answer.
      child.send(message, () => undefined);
      return true;
    },
    kill: () => {
      ending = true;
      clearTimeout(nextStart);
      child.kill('SIGKILL');
    },
    end: async (withinMs) => {
      ending = true;
      clearTimeout(nextStart);
      if (hasEnded()) return;
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      if (child.connected) child.send('end');
      else child.kill('SIGTERM');
      const killTimer = setTimeout(() => child.kill('SIGKILL'), withinMs);
      await exited;
      clearTimeout(killTimer);
    },
  };
  try {
    await launch();
  } catch (error) {
    supervised.kill();
    throw error;
  }
  return supervised;
}
