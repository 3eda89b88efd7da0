/** `signalbox secrets`: lists, stores and deletes secrets. A value is never an argument, which other users can see. */

import type { Command } from 'commander';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { confirm, yesFlag } from '../confirm.ts';
import { CliError, EXIT } from '../exit.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { allItems, showList } from '../show-list.ts';
import type { Terminal } from '../terminal.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand, CommandContext } from './command.ts';

interface SetOptions extends OutputOptions {
  readonly hosts?: string[];
  readonly workflows?: string[];
}

export const addSecrets: AddCommand = (program, host) => {
  const secrets = program.command('secrets').description('list, store and delete secrets; values are never shown');
  addListing(secrets, host);
  addSet(secrets, host);
  addDelete(secrets, host);
};

function addListing(secrets: Command, { terminal }: CommandContext): void {
  secrets
    .command('list')
    .description('list secrets without their values')
    .addOption(jsonFlag())
    .action(async ({ json }: OutputOptions) => {
      const gateway = gatewayOf(terminal);
      const items = await allItems((query) => gateway.call('GET', '/api/secrets', { query }));
      showList(terminal, items, json, {
        head: ['NAME', 'UPDATED', 'HOSTS', 'WORKFLOWS'],
        cells: ({ name, updatedAt, allowedHosts, allowedWorkflows }) => [
          name,
          updatedAt,
          (allowedHosts ?? []).join(' '),
          (allowedWorkflows ?? []).join(' '),
        ],
        none: 'No secrets.',
      });
    });
}

function addSet(secrets: Command, { terminal }: CommandContext): void {
  secrets
    .command('set')
    .description('store a secret: its value is asked for, or read from standard input')
    .argument('<name>', 'its name, such as payments/live')
    .option('--hosts <hosts...>', 'the only hosts that it may be sent to, such as api.example.com')
    .option('--workflows <slugs...>', 'the only workflows that may use it')
    .addOption(jsonFlag())
    .action(async (name: string, { hosts, workflows, json }: SetOptions) => {
      const gateway = gatewayOf(terminal);
      const value = await readValue(terminal, name);
      const { status, body } = await gateway.call('PUT', '/api/secrets/:name', {
        params: { name },
        json: { value, ...omitUndefined({ allowedHosts: hosts, allowedWorkflows: workflows }) },
      });
      terminal.out(json === true ? formatJson(body) : `${name} is ${status === 201 ? 'stored' : 'replaced'}.`);
    });
}

/** One line break at the end of standard input is not part of the value. */
async function readValue(terminal: Terminal, name: string): Promise<string> {
  const value = terminal.isInteractive
    ? await terminal.ask(`Value of ${name}: `, { isHidden: true })
    : (await terminal.input()).replace(/\r?\n$/, '');
  if (value !== undefined && value !== '') return value;
  throw new CliError(EXIT.input, 'No value was given. Type it, or pass it on standard input. Nothing was changed.');
}

function addDelete(secrets: Command, { terminal }: CommandContext): void {
  secrets
    .command('delete')
    .description('delete a secret')
    .argument('<name>', 'its name')
    .addOption(yesFlag())
    .addOption(jsonFlag())
    .action(async (name: string, { yes, json }: OutputOptions & { readonly yes?: boolean }) => {
      await confirm(terminal, `Delete the secret ${name}?`, yes);
      await gatewayOf(terminal).call('DELETE', '/api/secrets/:name', { params: { name } });
      terminal.out(json === true ? formatJson({ name, deleted: true }) : `${name} is deleted.`);
    });
}
