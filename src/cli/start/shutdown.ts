import { readFileSync } from 'node:fs';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { Say } from './say.ts';

/** The order of shutdown: gateway and worker, the connection, the server, then locks. */
export const SHUTDOWN_RANK = { services: 3, connection: 2, server: 1, locks: 0 } as const;

/** How the process learns that it should end, and what it ends then. */
export type Shutdown = {
  /** Aborts at the first signal. */
  signal: AbortSignal;
  /** Resolves when the process should end. */
  requested: Promise<void>;
  /** Registers a part to end: higher ranks end first, equal ranks concurrently. */
  add(rank: number, end: () => Promise<void>, kill?: () => void): void;
  /** Ends all registered parts. Never rejects. */
  endAll(): Promise<void>;
};

/** Parts that have not ended this long after the signal are killed. */
const KILL_AFTER_MS = 14_000;
/** npm forwards a Ctrl-C that the terminal has sent to all processes: a second one within this time is a duplicate. */
const DUPLICATE_SIGNAL_MS = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const PARENT_POLL_MS = 1_000;

/** Listens for the signals that end the process, and for the end of the `npm` that started it. */
export function listenForShutdown(say: Say): Shutdown {
  const controller = new AbortController();
  const parts: { rank: number; end: () => Promise<void>; kill?: () => void }[] = [];
  let requestedAt = 0;
  let endingAll = false;
  let resolveRequested = (): void => {};
  const requested = new Promise<void>((resolve) => {
    resolveRequested = resolve;
  });

  const killAll = (): never => {
    for (const { kill } of parts) kill?.();
    process.exit(1);
  };
  const request = (why: string): void => {
    if (requestedAt !== 0) {
      if (Date.now() - requestedAt > DUPLICATE_SIGNAL_MS) killAll();
      return;
    }
    requestedAt = Date.now();
    say(`${why}: shutting down. (Press again to stop immediately.)`);
    setTimeout(killAll, KILL_AFTER_MS).unref();
    controller.abort(new Error(why));
    resolveRequested();
  };
  // A closed terminal or pipe must not prevent an orderly shutdown.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  for (const name of SIGNALS) process.on(name, () => request(name));
  if (process.env['npm_lifecycle_event'] !== undefined) {
    const begunBy = parents();
    setInterval(() => {
      if (requestedAt === 0 && parents() !== begunBy) request('npm has ended');
    }, PARENT_POLL_MS).unref();
  }

  const safely = async (end: () => Promise<void>): Promise<void> => {
    try {
      await end();
    } catch (error) {
      say(`During shutdown: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return {
    signal: controller.signal,
    requested,
    add: (rank, end, kill) => {
      parts.push({ rank, end, ...omitUndefined({ kill }) });
      if (endingAll) void safely(end);
    },
    endAll: async () => {
      endingAll = true;
      const ranks = [...new Set(parts.map(({ rank }) => rank))].sort((a, b) => b - a);
      for (const rank of ranks) {
        await Promise.all(parts.filter((entry) => entry.rank === rank).map(({ end }) => safely(end)));
      }
    },
  };
}

/**
 * The ids of this process's parent and grandparent. npm runs scripts through a shell, which may stay in between. A dead
 * parent is replaced by another one, so a change means that npm or the shell has ended.
 */
function parents(): string {
  const shell = process.ppid;
  try {
    const stat = readFileSync(`/proc/${shell}/stat`, 'utf8');
    return `${shell} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch {
    return `${shell}`;
  }
}
