import type { Command } from 'commander';
import type { ExitCode } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** What a command needs from the one that all belong to. */
export interface Host {
  readonly terminal: Terminal;
  /** Makes an action of a function that answers with an exit code. */
  action<Args extends unknown[]>(run: (...args: Args) => Promise<ExitCode>): (...args: Args) => Promise<void>;
}

/** Adds one command. One file each, listed in cli.ts. */
export type AddCommand = (program: Command, host: Host) => void;
