#!/usr/bin/env node
/** The `signalbox` command of the package signalbox-cli, which has no Temporal, worker or Deno. */
import type { AddCommand } from './commands/command.ts';
import { addCompletion } from './commands/completion.ts';
import { CliError, EXIT } from './exit.ts';
import { runProcessCommandLine } from './program.ts';
import { REMOTE_COMMANDS } from './remote-commands.ts';

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
          EXIT.usage,
          `The package signalbox-cli has no ${name}. Install the package signalbox instead, which has it.`,
        );
      });
  };

await runProcessCommandLine([
  ['This machine:', addCompletion, ...['start', 'doctor', 'backup', 'restore', 'init'].map(absent)],
  ...REMOTE_COMMANDS,
]);
