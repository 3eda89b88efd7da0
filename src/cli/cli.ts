/** The `signalbox` command. */
import { addBackup, addRestore } from './commands/backup.ts';
import { addCompletion } from './commands/completion.ts';
import { addDoctor } from './commands/doctor.ts';
import { addInit } from './commands/init.ts';
import { addStart } from './commands/start.ts';
import { type CommandGroup, runCommandLine } from './program.ts';
import { REMOTE_COMMANDS } from './remote-commands.ts';
import type { Terminal } from './terminal.ts';

export const COMMANDS: readonly CommandGroup[] = [
  ['This machine:', addStart, addDoctor, addBackup, addRestore, addInit, addCompletion],
  ...REMOTE_COMMANDS,
];

export const runCli = (args: readonly string[], terminal: Terminal): Promise<number> =>
  runCommandLine(COMMANDS, args, terminal);
