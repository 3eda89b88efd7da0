import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { lastOutput, runExecutable } from './run-executable.ts';

/** The oldest CLI whose dev server supports the flags of temporal-server.ts. */
const MIN_VERSION: readonly [number, number] = [1, 5];
const ANSWER_MS = 20_000;

/** A working binary, or the reason why there is none. */
export type BinaryLookup = { path: string; version: string } | { refusal: string };

/** The user's cached binary: `signalbox/temporal` under XDG_CACHE_HOME or ~/.cache. */
export function cachedBinary(env: NodeJS.ProcessEnv): string {
  const cache = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  return join(cache, 'signalbox', 'temporal');
}

/** Checks that a binary runs and is new enough. */
export async function checkBinary(path: string): Promise<BinaryLookup> {
  const asked = await runExecutable(path, ['--version'], { timeoutMs: ANSWER_MS });
  if (!asked.ok) return { refusal: `${path} does not run (${lastOutput(asked)})` };
  const version = /temporal version (\d+)\.(\d+)\.(\d+)/.exec(asked.output);
  if (!version) return { refusal: `${path} does not print its version` };
  const [, major, minor, patch] = version;
  const enough =
    Number(major) > MIN_VERSION[0] || (Number(major) === MIN_VERSION[0] && Number(minor) >= MIN_VERSION[1]);
  const text = `${major}.${minor}.${patch}`;
  if (!enough) return { refusal: `${path} is version ${text}; ${MIN_VERSION.join('.')} or newer is needed` };
  return { path, version: text };
}

/** Copies a working binary into the cache atomically. */
export async function storeInCache(file: string, env: NodeJS.ProcessEnv): Promise<BinaryLookup> {
  chmodSync(file, 0o755);
  const found = await checkBinary(file);
  if ('refusal' in found) return found;
  const target = cachedBinary(env);
  const draft = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true });
  try {
    copyFileSync(file, draft);
    chmodSync(draft, 0o755);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
  return { path: target, version: found.version };
}
