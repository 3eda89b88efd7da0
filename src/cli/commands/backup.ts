/** `signalbox backup` and `signalbox restore`: the stack of this machine in one file. */
import { Option } from 'commander';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface Flags extends OutputOptions {
  readonly replace?: boolean;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export const addBackup: AddCommand = (program, { terminal }) => {
  program
    .command('backup <file>')
    .description('write database, large payloads and master key of the stack on SIGNALBOX_DATA to a file')
    .addOption(new Option('--replace', 'overwrite the file'))
    .addOption(jsonFlag())
    .action(async (file: string, { replace = false, json }: Flags) => {
      // It loads SQLite, which other commands do not need.
      const { backup } = await import('../backup/backup.ts');
      const done = await backup(file, terminal.env, replace);
      if (json === true) {
        terminal.out(formatJson(done));
        return;
      }
      const { bytes, blobs, manifest, stoppedMs } = done;
      terminal.out(
        `${done.file}: ${megabytes(bytes.file)}. Database ${megabytes(bytes.database)}, ${blobs} files of large ` +
          `payloads ${megabytes(bytes.blobs)}.`,
      );
      if (stoppedMs !== undefined) terminal.out(`The Temporal server stood still for ${stoppedMs} ms.`);
      terminal.out(
        manifest.masterKey.isIncluded
          ? 'It holds the master key: whoever has the file can read all secrets.'
          : 'It does not hold the master key, which comes from SIGNALBOX_MASTER_KEY. Keep that too.',
      );
    });
};

export const addRestore: AddCommand = (program, { terminal }) => {
  program
    .command('restore <file>')
    .description('put a backup into SIGNALBOX_DATA, on which no stack may run')
    .addOption(new Option('--replace', 'set a present database aside'))
    .addOption(jsonFlag())
    .action(async (file: string, { replace = false, json }: Flags) => {
      const { restore } = await import('../backup/restore.ts');
      const done = await restore(file, terminal.env, replace);
      if (json === true) {
        terminal.out(formatJson(done));
        return;
      }
      terminal.out(`Restored the state of ${done.manifest.createdAt} in ${done.dataDir}. Start it: npm start`);
      if (done.before !== undefined) terminal.out(`What was there before is in ${done.before}.`);
    });
};
