import type { Command } from 'commander';
import type { ExitCode } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** What a subcommand needs from the program. */
export interface Host {
  readonly terminal: Terminal;
  /** Creates an action from a function that resolves to an exit code. */
  action<Args extends unknown[]>(run: (...args: Args) => Promise<ExitCode>): (...args: Args) => Promise<void>;
}

/** Adds one command. Each command is a file, listed in cli.ts. */
export type AddCommand = (program: Command, host: Host) => void;
