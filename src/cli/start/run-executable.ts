import { spawn } from 'node:child_process';
import { omitUndefined } from '../../json/omit-undefined.ts';

/** How a program ended, with the end of its output. */
type ProgramResult = { ok: boolean; output: string; reason: string };

type RunExecutableOptions = {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  timeoutMs?: number;
  /** Called every 250 ms; returning a reason kills the program. */
  giveUp?: () => string | undefined;
  /** Kills the program when it aborts. */
  signal?: AbortSignal;
};

const MAX_OUTPUT_CHARACTERS = 4_000;

/** Runs a program to its end or its timeout. Never rejects: a program that cannot be started is a result too. */
export function runExecutable(
  command: string,
  args: readonly string[],
  options: RunExecutableOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...omitUndefined({ env: options.env, cwd: options.cwd }),
    });
    let output = '';
    let stopped: string | undefined;
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT_CHARACTERS);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const begun = Date.now();
    const watch = setInterval(() => {
      if (options.timeoutMs !== undefined && Date.now() - begun > options.timeoutMs) {
        stopped = `not finished within ${Math.round(options.timeoutMs / 1000)} s`;
      } else if (options.signal?.aborted) stopped = 'stopped';
      else stopped = options.giveUp?.();
      if (stopped !== undefined) child.kill('SIGKILL');
    }, 250);
    const finish = (ok: boolean, reason: string): void => {
      clearInterval(watch);
      resolve({ ok, output: output.trim(), reason });
    };
    child.on('error', (error) => finish(false, error.message));
    child.on('close', (code, signal) =>
      finish(code === 0, stopped ?? (signal ? `ended by ${signal}` : `exit code ${code}`)),
    );
  });
}

/** The end of a program's output as one line, for an error message. */
export function lastOutput(ended: ProgramResult): string {
  const words = ended.output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-2)
    .join(' ')
    .slice(-400);
  return words === '' ? ended.reason : `${ended.reason}: ${words}`;
}
