import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { supervise } from '../../src/cli/start/supervise.ts';

/** A fake process that the test controls, and that ends when it is killed. */
class Child extends EventEmitter {
  exitCode: number | null = null;
  signalCode: string | null = null;
  readonly connected = true;
  readonly pid: number;
  constructor(pid: number) {
    super();
    this.pid = pid;
  }
  send(): void {
    this.die();
  }
  kill(): void {
    this.die();
  }
  die(): void {
    this.exitCode = 1;
    this.emit('exit', 1, null);
  }
}

const READY_WITHIN_MS = 1_000;
let children: Child[];
let dead: (number | undefined)[];
let said: string[];

const start = () =>
  supervise({
    name: 'The child',
    readyWithinMs: READY_WITHIN_MS,
    say: (line) => said.push(line),
    fork: () => {
      const child = new Child(children.length + 1);
      children.push(child);
      return child as unknown as ChildProcess;
    },
    onDeath: (pid) => dead.push(pid),
  });

beforeEach(() => {
  vi.useFakeTimers();
  children = [];
  dead = [];
  said = [];
});
afterEach(() => vi.useRealTimers());

it('starts a child again until it is ready, and cleans up after each that died', async () => {
  const starting = start();
  children[0]?.emit('message', 'ready');
  const supervised = await starting;
  children[0]?.die();
  expect(dead).toEqual([1]);
  await vi.advanceTimersByTimeAsync(500);
  // The second one stays silent, and is killed for it.
  expect(children).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(READY_WITHIN_MS);
  expect(dead).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(1_000);
  children[2]?.emit('message', 'ready');
  await vi.advanceTimersByTimeAsync(0);
  expect(supervised.pid()).toBe(3);
  expect(said.at(-1)).toBe('The child is ready again.');
  await supervised.end(1_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(children).toHaveLength(3);
  expect(dead).toEqual([1, 2]);
});

it('refuses a first child that dies before it is ready, and starts no other', async () => {
  const starting = start();
  children[0]?.die();
  await expect(starting).rejects.toThrow('The child ended before it was ready (exit code 1).');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(children).toHaveLength(1);
});
