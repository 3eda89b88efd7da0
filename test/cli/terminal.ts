import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../src/cli/cli.ts';

export type CliRun = { exit: number; out: string; err: string };

export type CliOptions = {
  env?: NodeJS.ProcessEnv;
  input?: string;
  /** What a person at a terminal answers, question by question. Without it no person is there. */
  person?: readonly (string | (() => Promise<string>))[];
  hasColors?: boolean;
  /** Gets what is printed, as it is printed. */
  printed?: string[];
};

/** Runs a command line in this process. Nothing of the surrounding environment is seen. */
export async function cli(args: readonly string[], given: CliOptions = {}): Promise<CliRun> {
  const out = given.printed ?? [];
  const err: string[] = [];
  const answers = [...(given.person ?? [])];
  const exit = await runCli(args, {
    env: given.env ?? {},
    isInteractive: given.person !== undefined,
    hasColors: given.hasColors ?? false,
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    input: async () => given.input ?? '',
    ask: async (question) => {
      err.push(question);
      const answer = answers.shift();
      return typeof answer === 'function' ? answer() : answer;
    },
  });
  return { exit, out: out.join('\n'), err: err.join('\n') };
}

/** A folder for files of one test file. */
export function filesFolder(): { path: string; write(name: string, text: string): string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-cli-'));
  return {
    path: folder,
    write: (name, text) => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
