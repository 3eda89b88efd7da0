#!/usr/bin/env node
/** The `signalbox` command of the package signalbox-cli, which has no Temporal, worker or Deno. */
import type { AddCommand } from './commands/command.ts';
import { addCompletion } from './commands/completion.ts';
import { CliError, EXIT } from './exit.ts';
import { runProcess } from './program.ts';
import { REMOTE_COMMANDS } from './remote.ts';

/** A command of the package signalbox, which says so whatever its arguments. */
const absent =
  (name: string): AddCommand =>
  (program) => {
    program
      .command(name)
      .description('in the package signalbox only')
      .argument('[arguments...]')
      .allowUnknownOption()
      .helpOption(false)
      .action(() => {
        throw new CliError(
          EXIT.flags,
          `The package signalbox-cli has no ${name}. Install the package signalbox instead, which has it.`,
        );
      });
  };

await runProcess([
  ['This machine:', addCompletion, ...['start', 'doctor', 'backup', 'restore', 'init'].map(absent)],
  ...REMOTE_COMMANDS,
]);
