// The completion scripts, loaded by the shells themselves.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, filesFolder } from './terminal.ts';

const files = filesFolder();
const scripts: { [shell: string]: string } = {};
beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exit, out } = await cli(['completion', shell]);
    expect(exit).toBe(0);
    scripts[shell] = files.write(`signalbox.${shell}`, out);
  }
});
afterAll(() => files.remove());

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd: files.path, timeout: 25_000 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** What a shell offers for the last word of a command line. */
const OFFERS: { readonly [shell: string]: (...words: string[]) => string[] } = {
  bash: (...words) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const script = `source "$0"; COMP_WORDS=(signalbox ${list}) COMP_CWORD=${words.length}; _signalbox
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run('bash', ['--norc', '-uc', script, scripts['bash'] ?? '']).split('\n');
  },
  fish: (...words) => {
    const script = `source $argv[1]; complete -C 'signalbox ${words.join(' ')}'`;
    return run('fish', ['--no-config', '-c', script, scripts['fish'] ?? '']).split(/[\t\n]/);
  },
  // zsh completes in its line editor only, so what the script hands to it is printed instead.
  zsh: (...words) => {
    const script = `compdef() { print -r -- "$@" }; _files() { print -r -- '(files)' }
      compadd() { shift; print -rl -- "$@" }; _describe() { print -rl -- "\${(@)\${(@P)2}%%:*}" }
      source $1; words=(signalbox "\${@:2}"); CURRENT=$#words; _signalbox`;
    const typed = words.at(-1) ?? '';
    return run('zsh', ['-fuc', script, 'zsh', scripts['zsh'] ?? '', ...words])
      .split('\n')
      .filter((offer) => offer.startsWith(typed) || offer === '(files)');
  },
};

describe.each(Object.keys(OFFERS).filter(has))('in %s', (shell) => {
  const offers = OFFERS[shell] ?? (() => []);

  it('commands, their subcommands, options and values are completed', () => {
    const commands = offers('w');
    expect(commands).toContain('workflows');
    const subcommands = offers('triggers', 'd');
    expect(subcommands).toEqual(expect.arrayContaining(['deliveries', 'disable', 'delete']));
    expect(subcommands).not.toContain('doctor');
    expect(offers('workflows', 'run', 'list', '--i')).toEqual(expect.arrayContaining(['--input', '--idempotency-key']));
    expect(offers('keys', 'create', 'ann', '--role', 'ap')).toContain('approver');
    expect(offers('list', 'wor')).toContain('workflows');
  });
});

it('refuses shells that it does not know', async () => {
  expect(await cli(['completion', 'tcsh'])).toMatchObject({
    exit: 20,
    err: expect.stringContaining('bash, zsh, fish'),
  });
});
