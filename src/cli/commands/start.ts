import { Option } from 'commander';
import type { AddCommand } from './command.ts';

/** `signalbox start`. It is imported only on use, because it loads the whole stack. */
export const addStart: AddCommand = (program, { terminal }) => {
  program
    .command('start')
    .description('start the whole stack on this machine, or one part of it')
    .addOption(new Option('--only <part>', 'start only this part').choices(['gateway', 'worker']))
    .action(async (options: { only?: 'gateway' | 'worker' }) => {
      const { start } = await import('../start/start.ts');
      process.exit(await start({ ...options, env: terminal.env }));
    });
};
