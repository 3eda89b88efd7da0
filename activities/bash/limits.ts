/**
 * What the processes of a sandbox use together. Limits of a process do not bound their sum, those of a user do not hold for
 * root, and groups of the kernel need rights that a worker need not have: so they are counted, some times a second.
 */
import { readFileSync } from 'node:fs';

export interface Limits {
  /** Of a sandbox's processes together; a single one cannot have more at any moment. */
  readonly memoryBytes: number;
  readonly processes: number;
}

export const LIMITS: Limits = { memoryBytes: 1024 ** 3, processes: 256 };
export const WATCH_MS = 200;

/** The limit that the process and all below it are over; undefined where it is over none, or has ended. */
export function exceeded(pid: number, { memoryBytes, processes }: Limits): keyof Limits | undefined {
  let [count, memory] = [0, 0];
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    count += 1;
    if (count > processes) return 'processes';
    memory += memoryOf(next);
    if (memory > memoryBytes) return 'memoryBytes';
    open.push(...childrenOf(next));
  }
  return undefined;
}

/** Only the first thread of what bash starts has children that matter: others are few, and counted with their memory. */
function childrenOf(pid: number): number[] {
  return (read(`/proc/${pid}/task/${pid}/children`)?.trim().split(' ') ?? []).map(Number).filter((child) => child > 0);
}

/** What is its own, in memory, and not a file's. */
function memoryOf(pid: number): number {
  const status = read(`/proc/${pid}/status`) ?? '';
  return [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].reduce((sum, [, kb]) => sum + Number(kb) * 1024, 0);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
