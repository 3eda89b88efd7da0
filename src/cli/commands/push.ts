/** `signalbox push FILE…`: stores definitions; an existing slug gets a new version. */
import type { Problem } from '../../definition/document/types.ts';
import { CliError, EXIT, type ExitCode } from '../exit.ts';
import { gatewayOf } from '../gateway-client.ts';
import { dialectOption, jsonFlag } from '../options.ts';
import { findingLines, readDocument } from '../read-document.ts';
import { pretty } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface PushOptions {
  readonly dialect?: string;
  readonly json?: boolean;
}

interface Stored {
  readonly slug: string;
  readonly version?: string;
  readonly hash: string;
  readonly triggers?: readonly { readonly name: string; readonly type: string; readonly webhookUrl?: string }[];
  readonly warnings: readonly Problem[];
}

export const addPush: AddCommand = (program, { terminal, action }) => {
  program
    .command('push')
    .description('store definitions; plain-text secrets in them are stored encrypted')
    .argument('<files...>', 'definitions in YAML or JSON, in any dialect; - is standard input')
    .addOption(dialectOption())
    .addOption(jsonFlag())
    .action(
      action(async (files: readonly string[], { dialect, json }: PushOptions) => {
        const gateway = gatewayOf(terminal);
        const path = `/api/workflows${dialect === undefined ? '' : `?dialect=${dialect}`}`;
        const stored: Stored[] = [];
        let exit: ExitCode = EXIT.ok;
        for (const file of files) {
          try {
            const written = await readDocument(terminal, file);
            const { status, body } = await gateway.call<Stored>('POST', path, { document: written.text });
            stored.push(body);
            for (const line of findingLines(written, { problems: [], warnings: body.warnings })) terminal.err(line);
            if (json !== true) for (const line of storedLines(body, status === 201)) terminal.out(line);
          } catch (error) {
            // Other files are still pushed. The error is reported and determines the exit code.
            if (!(error instanceof CliError)) throw error;
            terminal.err(`${file}: ${error.message}`);
            for (const line of error.lines) terminal.err(`  ${line}`);
            exit = error.exitCode;
          }
        }
        if (json === true) terminal.out(pretty(stored));
        return exit;
      }),
    );
};

function storedLines({ slug, version, hash, triggers = [] }: Stored, isNew: boolean): string[] {
  return [
    `${slug} ${version ?? ''} ${isNew ? 'created' : 'stored'} ${hash}`.replace('  ', ' '),
    ...triggers.flatMap(({ name, webhookUrl }) => (webhookUrl === undefined ? [] : [`  ${name}: ${webhookUrl}`])),
  ];
}
