/**
 * Limits of all processes of a sandbox together, measured several times a second. ulimit does not bound the sum of
 * processes, per-user limits do not apply to root, and cgroups need privileges that a worker does not have.
 */
import { readFileSync } from 'node:fs';

export interface Limits {
  /** Of all processes of the sandbox; ulimit enforces it for a single one. */
  readonly memoryBytes: number;
  readonly processes: number;
}

export const DEFAULT_SANDBOX_LIMITS: Limits = { memoryBytes: 1024 ** 3, processes: 256 };
export const LIMIT_CHECK_MS = 200;

/** The limit that the process tree exceeds; undefined if it exceeds none or has ended. */
export function exceededLimit(pid: number, { memoryBytes, processes }: Limits): keyof Limits | undefined {
  let [count, memory] = [0, 0];
  const pending = [pid];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    count += 1;
    if (count > processes) return 'processes';
    memory += memoryOf(next);
    if (memory > memoryBytes) return 'memoryBytes';
    pending.push(...childrenOf(next));
  }
  return undefined;
}

/** Reads only the children of the first thread, which are all that matter for what bash starts. */
function childrenOf(pid: number): number[] {
  return (read(`/proc/${pid}/task/${pid}/children`)?.trim().split(' ') ?? []).map(Number).filter((child) => child > 0);
}

/** Resident memory without mapped files. */
function memoryOf(pid: number): number {
  const status = read(`/proc/${pid}/status`) ?? '';
  return [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].reduce((sum, [, kb]) => sum + Number(kb) * 1024, 0);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended.
    return undefined;
  }
}
