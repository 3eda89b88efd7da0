/** `signalbox push FILE…`: stores definitions; an existing slug gets a new version. */

import { CliError } from '../exit.ts';
import type { StoredWorkflow } from '../gateway-answers.ts';
import { gatewayOf } from '../gateway-client.ts';
import { dialectOption, jsonFlag, type OutputOptions } from '../options.ts';
import { findingLines, readDocument } from '../read-document.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface PushOptions extends OutputOptions {
  readonly dialect?: string;
}

export const addPush: AddCommand = (program, { terminal, exitWith }) => {
  program
    .command('push')
    .description('store definitions; plain-text secrets in them are stored encrypted')
    .argument('<files...>', 'definitions in YAML or JSON, in any dialect; - is standard input')
    .addOption(dialectOption())
    .addOption(jsonFlag())
    .action(async (files: readonly string[], { dialect, json }: PushOptions) => {
      const gateway = gatewayOf(terminal);
      const stored: StoredWorkflow[] = [];
      for (const file of files) {
        try {
          const written = await readDocument(terminal, file);
          const { status, body } = await gateway.call('POST', '/api/workflows', {
            query: { dialect },
            document: written.text,
          });
          stored.push(body);
          for (const line of findingLines(written, { problems: [], warnings: body.warnings })) terminal.err(line);
          if (json !== true) for (const line of storedLines(body, status === 201)) terminal.out(line);
        } catch (error) {
          // Other files are still pushed. The error is reported and determines the exit code.
          if (!(error instanceof CliError)) throw error;
          terminal.err(`${file}: ${error.message}`);
          for (const line of error.lines) terminal.err(`  ${line}`);
          exitWith(error.exitCode);
        }
      }
      if (json === true) terminal.out(formatJson(stored));
    });
};

function storedLines({ slug, version, hash, triggers = [] }: StoredWorkflow, isNew: boolean): string[] {
  return [
    `${slug} ${version} ${isNew ? 'created' : 'stored'} ${hash}`,
    ...triggers.flatMap(({ name, webhookUrl }) => (webhookUrl === undefined ? [] : [`  ${name}: ${webhookUrl}`])),
  ];
}
