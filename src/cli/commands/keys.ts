/** `signalbox keys`: API keys, made, listed and revoked; and `keys reseal` after a new master key. */

import { type Command, Option } from 'commander';
import type { KeySummary } from '../../client/organization/api-keys.ts';
import type { Resealed } from '../../client/organization/keys-reseal.ts';
import type { Page, PageRequest } from '../../client/visibility/listing.ts';
import { pagesOf } from '../../client/visibility/pages.ts';
import { ROLES } from '../../contract/organization.ts';
import { defined } from '../../json/defined.ts';
import { EXIT } from '../exit.ts';
import { type Gateway, gatewayOf } from '../gateway-client.ts';
import { jsonFlag } from '../options.ts';
import { pretty, table } from '../text-layout.ts';
import type { AddCommand, Host } from './command.ts';

/** Keys of one page. */
const PAGE = 1_000;

interface KeyOptions {
  readonly organization?: string;
  readonly json?: boolean;
}

interface CreateOptions extends KeyOptions {
  readonly role: string;
  readonly user?: string;
  readonly roles?: string[];
  readonly groups?: string[];
}

export const addKeys: AddCommand = (program, host) => {
  const keys = program
    .command('keys')
    .description('API keys; once there is one, SIGNALBOX_API_KEY holds the key of whoever calls');
  addCreate(keys, host);
  addListing(keys, host);
  addRevoke(keys, host);
  addReseal(keys, host);
};

function addCreate(keys: Command, { terminal, action }: Host): void {
  keys
    .command('create')
    .description('make a key, which is shown this once')
    .argument('<name>', 'what it is for, or whose it is')
    .addOption(
      new Option('--role <role>', 'what it may do; each role includes those before it')
        .choices(ROLES)
        .makeOptionMandatory(),
    )
    .option('--user <user>', 'the person, who may have several keys; the name if left out')
    .option('--roles <roles...>', "the person's roles in approvals, such as finance")
    .option('--groups <groups...>', "the person's groups in approvals")
    .addOption(organizationOption())
    .addOption(jsonFlag())
    .action(
      action(async (name: string, { json, ...options }: CreateOptions) => {
        const { body } = await gatewayOf(terminal).call<KeySummary & { readonly key: string }>('POST', '/api/keys', {
          json: { name, ...options },
        });
        if (json === true) terminal.out(pretty(body));
        else {
          terminal.out(body.key);
          terminal.err(`${body.id}  ${body.role} of ${body.organizationId}. Keep the key: it is not shown again.`);
        }
        return EXIT.ok;
      }),
    );
}

function addListing(keys: Command, { terminal, action }: Host): void {
  keys
    .command('list')
    .description('list keys, without the keys themselves')
    .addOption(organizationOption())
    .addOption(jsonFlag())
    .action(
      action(async ({ organization, json }: KeyOptions) => {
        const items = await allKeys(gatewayOf(terminal), organization);
        if (json === true) terminal.out(pretty(items));
        else if (items.length === 0) terminal.err('No keys: the gateway serves this machine only.');
        else
          for (const line of table(['ID', 'NAME', 'ROLE', 'USER', 'CREATED', 'LAST USED'], items.map(cells)))
            terminal.out(line);
        return EXIT.ok;
      }),
    );
}

async function allKeys(gateway: Gateway, organization: string | undefined): Promise<KeySummary[]> {
  const keys: KeySummary[] = [];
  const list = async ({ limit, cursor }: PageRequest): Promise<Page<KeySummary>> => {
    const page = within(organization, { limit: String(limit), ...defined({ cursor }) });
    return (await gateway.call<Page<KeySummary>>('GET', `/api/keys?${page}`)).body;
  };
  for await (const some of pagesOf(PAGE, list)) keys.push(...some);
  return keys;
}

function addRevoke(keys: Command, { terminal, action }: Host): void {
  keys
    .command('revoke')
    .description('revoke a key: it gets nobody in any more')
    .argument('<id>', 'as the list has it')
    .addOption(organizationOption())
    .action(
      action(async (id: string, { organization }: KeyOptions) => {
        await gatewayOf(terminal).call('DELETE', `/api/keys/${encodeURIComponent(id)}?${within(organization)}`);
        terminal.err(`${id} is revoked.`);
        return EXIT.ok;
      }),
    );
}

function addReseal(keys: Command, { terminal, action }: Host): void {
  keys
    .command('reseal')
    .description('seal under the present master key what is sealed under a former one')
    .addOption(jsonFlag())
    .action(
      action(async ({ json }: KeyOptions) => {
        const { body } = await gatewayOf(terminal).call<Resealed>('POST', '/api/reseal');
        const { resealed, unchanged, unreadable } = body;
        if (json === true) terminal.out(pretty(body));
        else {
          terminal.out(`${resealed} sealed anew, ${unchanged} as they were, ${unreadable.length} unreadable`);
          for (const { organizationId, collection, name } of unreadable)
            terminal.err(`unreadable: ${collection}/${name} of ${organizationId}`);
        }
        return unreadable.length === 0 ? EXIT.ok : EXIT.input;
      }),
    );
}

const organizationOption = (): Option =>
  new Option('--organization <name>', 'another organization, which is made if it is new; for admins of default');

function within(organization: string | undefined, more: { readonly [name: string]: string } = {}): URLSearchParams {
  return new URLSearchParams({ ...more, ...defined({ organization }) });
}

const cells = ({ id, name, role, user, createdAt, lastUsedAt }: KeySummary): string[] => [
  id,
  name,
  role,
  user === name ? '' : user,
  createdAt,
  lastUsedAt ?? '',
];
