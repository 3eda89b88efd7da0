#!/usr/bin/env node
import { Command, Option } from 'commander';

const program = new Command('signalbox').description('Workflows that are data, run durably on Temporal');

program
  .command('start')
  .description('start everything on this machine, or one part of it')
  .addOption(new Option('--only <part>', 'start this part alone').choices(['gateway', 'worker']))
  .action(async (options: { only?: 'gateway' | 'worker' }) => {
    const { start } = await import('./start/start.ts');
    process.exit(await start(options));
  });

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  const exitCode = error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : 1;
  process.exit(exitCode);
});
