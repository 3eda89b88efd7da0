/** What the bench compares: systems that do the same work, each driven as its users drive it. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Contender {
  readonly name: string;
  /** What is on the disk when an answer is given, and how many processes take part. */
  readonly settings: string;
  /** A run of so many effects that do nothing, one after the other: from its start to its result. */
  sequence(count: number): Promise<void>;
  /** A run that waits for an approval, and after it has one effect. Resolves to its id when it waits. */
  park(): Promise<string>;
  /** Approves the run, and waits for its result. */
  approve(id: string): Promise<void>;
  /** Does the same by Temporal's client, where `approve` does it otherwise. */
  signal?(id: string): Promise<void>;
  /** The processes of the system, by pid: without the one that drives it. */
  readonly processes: readonly number[];
  /** The process that runs the workflows. Absent where a contender before has the same, and where there is none. */
  readonly worker?: number;
  stop(): Promise<void>;
}

/** Memory of the process that the kernel holds now, in bytes. */
export function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (line === null) throw new Error('This row reads /proc: it needs Linux.');
  return Number(line[1]) * 1_024;
}

/** User and system time of the processes and their children, in seconds. */
export function cpuSeconds(pids: readonly number[]): number {
  const all = descendants(pids);
  return all.reduce((sum, pid) => sum + ticksOf(pid), 0) / TICKS_PER_SECOND;
}

const ANSWER_MS = 60_000;
const TICKS_PER_SECOND = 100;
/** Of processor time, in two seconds. */
const IDLE_SECONDS = 0.1;

/** The fields of /proc/PID/stat after the name, which may contain spaces. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

const ticksOf = (pid: number): number => Number(statOf(pid)[11] ?? 0) + Number(statOf(pid)[12] ?? 0);

function descendants(pids: readonly number[]): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: Number(statOf(Number(name))[1] ?? 0) }));
  const found = new Set(pids);
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of parents) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

/** Until the process and its children have had almost nothing to do for two seconds; two minutes at most. */
export async function idle(pid: number): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const before = cpuSeconds([pid]);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    if (cpuSeconds([pid]) - before < IDLE_SECONDS) return;
  }
}

/** Runs `work` so many times, `runConcurrently` at a time. */
export async function runConcurrently(
  count: number,
  most: number,
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: Math.min(most, count) }, lane));
}

/** Posts JSON, and answers the parsed body. @throws Error for a status of 400 and above */
export async function post(url: string, body: unknown): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 300)}`);
  return text === '' ? undefined : JSON.parse(text);
}
