import type { Command } from 'commander';
import type { ExitCode } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** What a subcommand needs from the program. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Sets the exit code of the program. A command that does not call it, and throws nothing, ends with 0. */
  exitWith(code: ExitCode): void;
}

/** Adds one command. Each command is a file, listed in remote-commands.ts, or in cli.ts where it needs this machine. */
export type AddCommand = (program: Command, host: CommandContext) => void;
