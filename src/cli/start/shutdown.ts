import { readFileSync } from 'node:fs';
import { defined } from '../../json/defined.ts';
import type { Say } from './say.ts';

/** What began last in the chain of need ends first: gateway and worker, the connection, the server, then locks. */
export const SHUTDOWN_RANK = { rim: 3, connection: 2, server: 1, claims: 0 } as const;

/** How the process is asked to end, and what has to be ended then. */
export type Shutdown = {
  /** Fires at the first signal. */
  signal: AbortSignal;
  /** Resolves when the process was asked to end. */
  asked: Promise<void>;
  /** Registers what began; ended in reverse order of groups: a higher `rank` first, equal ranks at once. */
  add(rank: number, end: () => Promise<void>, kill?: () => void): void;
  /** Ends everything registered. Never rejects. */
  endAll(): Promise<void>;
};

/** All has ended so long after the signal; what has not is killed. */
const LAST_MS = 14_000;
/** npm passes on a Ctrl-C that the terminal has sent to all already: the second within this time is the same one. */
const SAME_SIGNAL_MS = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const PARENT_POLL_MS = 1_000;

/** Listens for the signals that end the process, and for the death of the `npm` that started it. */
export function listenForShutdown(say: Say): Shutdown {
  const controller = new AbortController();
  const begun: { rank: number; end: () => Promise<void>; kill?: () => void }[] = [];
  let askedAt = 0;
  let endingAll = false;
  let resolveAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    resolveAsked = resolve;
  });

  const killAll = (): never => {
    for (const { kill } of begun) kill?.();
    process.exit(1);
  };
  const ask = (why: string): void => {
    if (askedAt !== 0) {
      if (Date.now() - askedAt > SAME_SIGNAL_MS) killAll();
      return;
    }
    askedAt = Date.now();
    say(`${why}: ending. (Once more ends at once.)`);
    setTimeout(killAll, LAST_MS).unref();
    controller.abort(new Error(why));
    resolveAsked();
  };
  // A terminal or pipe that is gone must not keep things from being ended in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  for (const name of SIGNALS) process.on(name, () => ask(name));
  if (process.env['npm_lifecycle_event'] !== undefined) {
    const begunBy = parents();
    setInterval(() => {
      if (askedAt === 0 && parents() !== begunBy) ask('npm is gone');
    }, PARENT_POLL_MS).unref();
  }

  const safely = async (end: () => Promise<void>): Promise<void> => {
    try {
      await end();
    } catch (error) {
      say(`While ending: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return {
    signal: controller.signal,
    asked,
    add: (rank, end, kill) => {
      begun.push({ rank, end, ...defined({ kill }) });
      if (endingAll) void safely(end);
    },
    endAll: async () => {
      endingAll = true;
      const ranks = [...new Set(begun.map(({ rank }) => rank))].sort((a, b) => b - a);
      for (const rank of ranks) {
        await Promise.all(begun.filter((entry) => entry.rank === rank).map(({ end }) => safely(end)));
      }
    },
  };
}

/**
 * The processes above this one, as far as npm: it runs a script through a shell, which stays in between where it does
 * not replace itself by the script. A killed parent is followed by another one, so a change means that one is gone.
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
