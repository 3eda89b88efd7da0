/**
 * `signalbox keys`: creates, lists and revokes API keys; `keys reseal` re-encrypts after a change of the master key.
 */

import { type Command, Option } from 'commander';
import { ROLES } from '../../contract/organization/organization.ts';
import { confirm, yesFlag } from '../confirm.ts';
import { EXIT } from '../exit.ts';
import { gatewayOf } from '../gateway-client.ts';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { allItems, showList } from '../show-list.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand, CommandContext } from './command.ts';

interface KeyOptions extends OutputOptions {
  readonly organization?: string;
}

interface CreateOptions extends KeyOptions {
  readonly role: string;
  readonly user?: string;
  readonly roles?: string[];
  readonly groups?: string[];
  readonly emails?: string[];
}

export const addKeys: AddCommand = (program, host) => {
  const keys = program
    .command('keys')
    .description('manage API keys; once one exists, every caller needs one (SIGNALBOX_API_KEY)');
  addCreate(keys, host);
  addListing(keys, host);
  addRevoke(keys, host);
  addReseal(keys, host);
};

function addCreate(keys: Command, { terminal }: CommandContext): void {
  keys
    .command('create')
    .description('create a key, which is shown only once')
    .argument('<name>', 'its purpose or its owner')
    .addOption(
      new Option('--role <role>', 'the permissions; each role includes those before it')
        .choices(ROLES)
        .makeOptionMandatory(),
    )
    .option('--user <user>', 'the person, who may have several keys; default: the name')
    .option('--roles <roles...>', "the person's roles in approvals, such as finance")
    .option('--groups <groups...>', "the person's groups in approvals")
    .option('--emails <addresses...>', "the person's e-mail addresses, to which links of approvals are sent")
    .addOption(organizationOption())
    .addOption(jsonFlag())
    .action(async (name: string, { json, ...options }: CreateOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/keys', { json: { name, ...options } });
      if (json === true) terminal.out(formatJson(body));
      else {
        terminal.out(body.key);
        terminal.err(`${body.id}  ${body.role} of ${body.organizationId}. Keep the key: it is not shown again.`);
      }
    });
}

function addListing(keys: Command, { terminal }: CommandContext): void {
  keys
    .command('list')
    .description('list keys without their secret values')
    .addOption(organizationOption())
    .addOption(jsonFlag())
    .action(async ({ organization, json }: KeyOptions) => {
      const gateway = gatewayOf(terminal);
      const items = await allItems((page) => gateway.call('GET', '/api/keys', { query: { organization, ...page } }));
      showList(terminal, items, json, {
        head: ['ID', 'NAME', 'ROLE', 'USER', 'EMAILS', 'CREATED', 'LAST USED'],
        cells: ({ id, name, role, user, emails, createdAt, lastUsedAt }) => [
          id,
          name,
          role,
          user === name ? '' : user,
          emails.join(' '),
          createdAt,
          lastUsedAt ?? '',
        ],
        none: 'There are no API keys: the gateway serves this machine only.',
      });
    });
}

function addRevoke(keys: Command, { terminal }: CommandContext): void {
  keys
    .command('revoke')
    .description('revoke a key')
    .argument('<id>', 'the id in the list')
    .addOption(organizationOption())
    .addOption(yesFlag())
    .action(async (id: string, { organization, yes }: KeyOptions & { readonly yes?: boolean }) => {
      await confirm(terminal, `Revoke the key ${id}?`, yes);
      await gatewayOf(terminal).call('DELETE', '/api/keys/:id', { params: { id }, query: { organization } });
      terminal.err(`${id} is revoked.`);
    });
}

function addReseal(keys: Command, { terminal, exitWith }: CommandContext): void {
  keys
    .command('reseal')
    .description('re-encrypt with the current master key everything that an earlier one encrypted')
    .addOption(jsonFlag())
    .action(async ({ json }: KeyOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/reseal');
      const { resealed, unchanged, unreadable } = body;
      if (json === true) terminal.out(formatJson(body));
      else {
        terminal.out(`${resealed} re-encrypted, ${unchanged} unchanged, ${unreadable.length} unreadable`);
        for (const { organizationId, collection, name } of unreadable)
          terminal.err(`unreadable: ${collection}/${name} of ${organizationId}`);
      }
      if (unreadable.length > 0) exitWith(EXIT.input);
    });
}

const organizationOption = (): Option =>
  new Option('--organization <name>', 'another organization, which is created if it is new; for admins of default');
