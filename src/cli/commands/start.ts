import { Option } from 'commander';
import type { AddCommand } from './command.ts';

/** `signalbox start`: loaded only then, since it brings the whole stack. The process ends when everything has. */
export const addStart: AddCommand = (program, { terminal }) => {
  program
    .command('start')
    .description('start everything on this machine, or one part of it')
    .addOption(new Option('--only <part>', 'start this part alone').choices(['gateway', 'worker']))
    .action(async (options: { only?: 'gateway' | 'worker' }) => {
      const { start } = await import('../start/start.ts');
      process.exit(await start({ ...options, env: terminal.env }));
    });
};
