/** A program with subcommands and exit codes (ARCHITECTURE.md §5). */
import { Command, CommanderError } from 'commander';
import { programVersion } from '../observe/version.ts';
import type { AddCommand, CommandContext } from './commands/command.ts';
import { CliError, EXIT, type ExitCode } from './exit.ts';
import { processTerminal, type Terminal } from './terminal.ts';

/** Commands under a heading, in the order of --help. */
export type CommandGroup = readonly [heading: string, ...commands: AddCommand[]];

const AFTER_HELP = `
All commands except those of this machine, validate, import and run --dry call a gateway. They find it in this order:
SIGNALBOX_URL; SIGNALBOX_HOST and SIGNALBOX_PORT; the stack on SIGNALBOX_DATA (.signalbox); 127.0.0.1:8787. Set
SIGNALBOX_API_KEY to your API key if the gateway requires one.
Exit codes: 0 success, 1 internal error, 10 invalid input or no gateway, 20 invalid command line, 30 differences,
40 execution failed.`;

/** Runs the command line of this process, and sets its exit code. */
export async function runProcessCommandLine(commands: readonly CommandGroup[]): Promise<void> {
  // The reader may close the pipe early (`signalbox list | head`).
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  process.exitCode = await runCommandLine(commands, process.argv.slice(2), processTerminal);
}

/** Runs one command line and resolves to its exit code. Errors go to standard error. It never rejects. */
export async function runCommandLine(
  commands: readonly CommandGroup[],
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  let exit: ExitCode = EXIT.ok;
  const host: CommandContext = {
    terminal,
    exitWith: (code) => {
      exit = code;
    },
  };
  const program = new Command('signalbox')
    .version(programVersion(), '-V, --version', 'print the version')
    .description('Workflows that are data, run durably on Temporal')
    .addHelpText('after', AFTER_HELP)
    // Options of the program stand before the command, so that a command may have --version.
    .enablePositionalOptions()
    .showHelpAfterError('(run with --help for usage)')
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    })
    .exitOverride();
  for (const [heading, ...group] of commands) {
    program.commandsGroup(heading);
    for (const add of group) add(program, host);
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exit;
  } catch (error) {
    return printError(terminal, error);
  }
}

function printError(terminal: Terminal, error: unknown): number {
  // Commander has printed its own errors. Help is not an error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  terminal.err(error instanceof Error ? error.message : String(error));
  if (error instanceof CliError) for (const line of error.lines) terminal.err(`  ${line}`);
  return error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : EXIT.internal;
}
