/** The `signalbox` command: its subcommands, and how each ends (ARCHITECTURE.md §5, exit codes). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import type { AddCommand, Host } from './commands/command.ts';
import { addImport } from './commands/import.ts';
import { addKeys } from './commands/keys.ts';
import { addList } from './commands/list.ts';
import { addLogs } from './commands/logs.ts';
import { addPropose } from './commands/propose.ts';
import { addPush } from './commands/push.ts';
import { addApprove, addResume } from './commands/resume.ts';
import { addFork, addRetry } from './commands/retry.ts';
import { addRun } from './commands/run.ts';
import { addShow } from './commands/show.ts';
import { addStart } from './commands/start.ts';
import { addValidate } from './commands/validate.ts';
import { CliError, EXIT, type ExitCode } from './exit.ts';
import { projectRoot } from './start/project-root.ts';
import type { Terminal } from './terminal.ts';

const commands: readonly AddCommand[] = [
  addStart,
  addRun,
  addValidate,
  addPush,
  addPropose,
  addList,
  addShow,
  addLogs,
  addResume,
  addApprove,
  addRetry,
  addFork,
  addImport,
  addKeys,
];

const AFTER_HELP = `
Everything but start, validate, import and run --dry talks to a gateway: the one at SIGNALBOX_URL, else at SIGNALBOX_HOST and
SIGNALBOX_PORT, else that of the stack on SIGNALBOX_DATA (.signalbox), else 127.0.0.1:8787. Where the gateway has API keys,
SIGNALBOX_API_KEY holds yours.
Exit codes: 0 done, 1 something broke that should not, 10 the input is wrong (or no gateway answers), 20 the command line is wrong,
40 the execution failed.`;

/** Runs one command line. Resolves with its exit code; errors have been told on standard error. Never rejects. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exit: ExitCode = EXIT.ok;
  const host: Host = {
    terminal,
    action:
      (run) =>
      async (...given) => {
        exit = await run(...given);
      },
  };
  const program = new Command('signalbox')
    .version(ownVersion(), '-V, --version', 'say which version this is')
    .description('Workflows that are data, run durably on Temporal')
    .addHelpText('after', AFTER_HELP)
    .showHelpAfterError('(add --help for what may be given)')
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    })
    .exitOverride();
  for (const add of commands) add(program, host);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exit;
  } catch (error) {
    return told(terminal, error);
  }
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8')) as { version: string };
  return version;
}

function told(terminal: Terminal, error: unknown): number {
  // Commander has told its own already; asking for help is no error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.flags;
  terminal.err(error instanceof Error ? error.message : String(error));
  if (error instanceof CliError) for (const line of error.lines) terminal.err(`  ${line}`);
  return error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : EXIT.broken;
}
