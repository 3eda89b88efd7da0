/** `signalbox completion SHELL`: prints a script that completes commands, options and their values. */
import { Argument } from 'commander';
import { bashCompletion } from '../completion/bash.ts';
import { completedCommands } from '../completion/commands.ts';
import { fishCompletion } from '../completion/fish.ts';
import { zshCompletion } from '../completion/zsh.ts';
import type { AddCommand } from './command.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export const addCompletion: AddCommand = (program, { terminal }) => {
  program
    .command('completion')
    .description('print a script that completes the commands of signalbox in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .action(async (shell: keyof typeof SHELLS) => {
      terminal.out(SHELLS[shell](completedCommands(program)));
    });
};
