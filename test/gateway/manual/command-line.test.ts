// The page about the command line names every command, and only options and exit codes that exist.
import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/exit.ts';
import { readPage } from '../../../src/gateway/manual/pages.ts';
import { cli } from '../../cli/terminal.ts';

const { markdown } = readPage('command-line');
/** `resume ID --decision …`: what the first column of the table of commands has. */
const commands = [...markdown.matchAll(/^\| (`[a-z].*?) \| /gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]*)`/g)].map(([, command = '']) => command),
);
const GROUPS = ['keys', 'proposals', 'secrets', 'triggers', 'workflows'];
const nameOf = (command: string): string => new RegExp(`^((${GROUPS.join('|')}) )?[a-z]+`).exec(command)?.[0] ?? '';

it('names every command, and none that does not exist', async () => {
  const listed = async (...args: string[]) =>
    [...(await cli([...args, '--help'])).out.matchAll(/^ {2}([a-z]+)(?:\|\w+)?(?: |$)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help');
  const single = (await listed()).filter((name) => !GROUPS.includes(name));
  const grouped = await Promise.all(
    GROUPS.map(async (group) => (await listed(group)).map((name) => `${group} ${name}`)),
  );
  const missing = 'src/gateway/manual/pages/command-line.md lists each command of `signalbox --help`, and no other';
  expect([...new Set(commands.map(nameOf))].toSorted(), missing).toEqual([...single, ...grouped.flat()].toSorted());
});

it.each(commands)('%s: names options that the command has', async (command) => {
  const { out } = await cli([...nameOf(command).split(' '), '--help']);
  for (const [option] of command.matchAll(/--?[a-z]+/g)) expect(out).toContain(option);
});

it('lists every exit code', () => {
  const codes = [...markdown.matchAll(/^\| (\d+) \| /gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(Object.values(EXIT));
});
