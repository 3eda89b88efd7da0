#!/usr/bin/env node
import { runCli } from './cli.ts';
import { processTerminal } from './terminal.ts';

// The reader may close the pipe early (`signalbox list | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), processTerminal);
