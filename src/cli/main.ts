#!/usr/bin/env node
import { runCli } from './cli.ts';
import { processTerminal } from './terminal.ts';

// Whoever reads only the first lines (`signalbox list | head`) has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), processTerminal);
