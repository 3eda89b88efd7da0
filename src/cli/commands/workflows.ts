/** `signalbox workflows`: lists, shows, runs, compares, restores, disables and deletes stored definitions. */

import type { Command } from 'commander';
import type { DefinitionHead } from '../../contract/actors.ts';
import { defined } from '../../json/defined.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { confirm, yesFlag } from '../confirm.ts';
import type { StartedExecution } from '../executions.ts';
import { EXIT } from '../exit.ts';
import { gatewayOf } from '../gateway-client.ts';
import { idempotencyHeader, idempotencyOption, jsonFlag, jsonOption, objectOption, secondsOption } from '../options.ts';
import { DEFAULT_WAIT_SECONDS, showOutcome } from '../outcome.ts';
import { allItems, showList } from '../show-list.ts';
import { pretty } from '../text-layout.ts';
import { historyOf, namedVersion, type StoredWorkflow, workflowPath } from '../workflows.ts';
import type { AddCommand, Host } from './command.ts';
import { addVersions } from './versions.ts';

interface Shown {
  readonly json?: boolean;
}

interface RunOptions extends Shown {
  readonly version?: string;
  readonly input?: Json;
  readonly state?: JsonObject;
  readonly presets?: JsonObject;
  readonly wait: number;
  readonly idempotencyKey?: string;
}

export const addWorkflows: AddCommand = (program, host) => {
  const workflows = program.command('workflows').description('run, show, compare and manage stored workflows');
  addListing(workflows, host);
  addShow(workflows, host);
  addRunning(workflows, host);
  addVersions(workflows, host);
  addSwitch(workflows, host, 'enable', 'allow new runs of a workflow');
  addSwitch(workflows, host, 'disable', 'prevent new runs of a workflow; active runs continue');
  addDelete(workflows, host);
};

function addListing(workflows: Command, { terminal, action }: Host): void {
  workflows
    .command('list')
    .description('list all stored workflows')
    .option('--tag <tag>', 'only workflows with this tag')
    .addOption(jsonFlag())
    .action(
      action(async ({ tag, json }: Shown & { readonly tag?: string }) => {
        const tell = (words: string) => terminal.err(words);
        const items = await allItems<DefinitionHead>(gatewayOf(terminal), '/api/workflows', defined({ tag }), tell);
        showList(terminal, items, json, {
          head: ['SLUG', 'VERSION', 'ENABLED', 'UPDATED', 'NAME'],
          cells: ({ slug, version, enabled, updatedAt, name }) => [
            slug,
            version ?? '',
            enabled ? 'yes' : 'no',
            updatedAt,
            name,
          ],
          none: 'No workflows.',
        });
        return EXIT.ok;
      }),
    );
}

function addShow(workflows: Command, { terminal, action }: Host): void {
  workflows
    .command('show')
    .description('print a workflow as its author wrote it; with --json its definition and facts')
    .argument('<slug>', 'the workflow')
    .option('--version <version>', 'the number or hash of a version; default: the current one')
    .addOption(jsonFlag())
    .action(
      action(async (slug: string, { version, json }: Shown & { readonly version?: string }) => {
        const gateway = gatewayOf(terminal);
        const path = workflowPath(slug);
        const hash =
          version === undefined ? undefined : namedVersion(slug, await historyOf(gateway, slug), version).hash;
        if (json === true) {
          const of = hash === undefined ? path : `${path}/history/${encodeURIComponent(hash)}`;
          terminal.out(pretty((await gateway.call<StoredWorkflow>('GET', of)).body));
          return EXIT.ok;
        }
        const query = new URLSearchParams(defined({ hash }));
        const { body } = await gateway.call<{ text: string }>('GET', `${path}/text?${query}`);
        terminal.out(body.text.trimEnd());
        return EXIT.ok;
      }),
    );
}

function addRunning(workflows: Command, { terminal, action }: Host): void {
  workflows
    .command('run')
    .description('run a stored workflow and wait until it ends or waits for somebody')
    .argument('<slug>', 'the workflow')
    .option('--version <version>', 'the number or hash of a version; default: the current one')
    .option('--input <json>', "the run's input; @FILE reads it from a file", jsonOption)
    .option('--state <json>', 'initial values of the declared state: {key: value}', objectOption)
    .option('--presets <json>', 'results of steps that are then not executed: {step: result}', objectOption)
    .option('--wait <seconds>', 'how long to wait for the end', secondsOption, DEFAULT_WAIT_SECONDS)
    .addOption(idempotencyOption())
    .addOption(jsonFlag())
    .action(
      action(async (slug: string, { wait, json, idempotencyKey, ...start }: RunOptions) => {
        const gateway = gatewayOf(terminal);
        const { body } = await gateway.call<StartedExecution>('POST', '/api/triggers/manual/run', {
          json: { workflowId: slug, ...defined(start) },
          headers: idempotencyHeader(idempotencyKey),
        });
        return showOutcome(terminal, gateway, body.executionId, { wait, ...defined({ json }) });
      }),
    );
}

function addSwitch(
  workflows: Command,
  { terminal, action }: Host,
  verb: 'enable' | 'disable',
  description: string,
): void {
  workflows
    .command(verb)
    .description(description)
    .argument('<slug>', 'the workflow')
    .addOption(jsonFlag())
    .action(
      action(async (slug: string, { json }: Shown) => {
        const { body } = await gatewayOf(terminal).call<DefinitionHead>('POST', `${workflowPath(slug)}/${verb}`);
        terminal.out(json === true ? pretty(body) : `${slug} is ${body.enabled ? 'enabled' : 'disabled'}.`);
        return EXIT.ok;
      }),
    );
}

function addDelete(workflows: Command, { terminal, action }: Host): void {
  workflows
    .command('delete')
    .description('delete a workflow and its triggers; active runs continue, and its versions stay in the history')
    .argument('<slug>', 'the workflow')
    .addOption(yesFlag())
    .addOption(jsonFlag())
    .action(
      action(async (slug: string, { yes, json }: Shown & { readonly yes?: boolean }) => {
        await confirm(terminal, `Delete the workflow ${slug} with its triggers?`, yes);
        await gatewayOf(terminal).call('DELETE', workflowPath(slug));
        terminal.out(json === true ? pretty({ slug, deleted: true }) : `${slug} is deleted.`);
        return EXIT.ok;
      }),
    );
}
