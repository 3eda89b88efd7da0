// Runs the commands of a page of the manual, each behind its first words, so that page and tests cannot drift apart.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../src/cli/start/project-root.ts';

export interface ManualCommands {
  readonly text: string;
  /** All commands of the page, as they stand there, with their line ends joined. */
  readonly all: readonly string[];
  /** Those that no test has run. */
  readonly unrun: () => readonly string[];
  /**
   * Runs the only command that begins with these words, and holds them all, with values for its `$NAMES`. Answers what
   * it printed. Rejects where it exits with another code than 0, with what it printed as the message.
   */
  run(words: string, values: { readonly [name: string]: string }): Promise<string>;
}

interface Surroundings {
  /** What `temporal` stands for. */
  readonly program: string;
  /** The folder in which commands run. */
  readonly folder: string;
  readonly env: { readonly [name: string]: string };
}

export function commandsOf(page: string, { program, folder, env }: Surroundings): ManualCommands {
  const text = readFileSync(join(projectRoot(), 'src/gateway/manual/pages', page), 'utf8');
  const all = [...text.matchAll(/^```shell\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block = '']) => block.replaceAll(/\\\n */g, '').split('\n'))
    .filter((line) => line.startsWith('temporal '));
  const ran = new Set<string>();
  return {
    text,
    all,
    unrun: () => all.filter((line) => !ran.has(line)),
    run: (words, values) => {
      const [first = '', ...rest] = words.split(' … ');
      const found = [
        ...new Set(all.filter((line) => line.startsWith(first) && rest.every((one) => line.includes(one)))),
      ];
      const [line] = found;
      if (line === undefined || found.length > 1)
        throw new Error(`${found.length} commands of ${page} begin with: ${words}\n${found.join('\n')}`);
      ran.add(line);
      const script = `set -u\ntemporal() { "$TEMPORAL_PROGRAM" "$@"; }\n${line}`;
      return new Promise((resolve, reject) => {
        execFile(
          'bash',
          ['-c', script],
          { env: { ...process.env, ...env, ...values, TEMPORAL_PROGRAM: program }, cwd: folder },
          (error, stdout, stderr) => {
            if (error === null) resolve(stdout);
            else reject(new Error(`${line}\n${stdout}${stderr}`));
          },
        );
      });
    },
  };
}
