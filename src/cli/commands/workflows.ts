/** `signalbox workflows`: lists, shows, runs, compares, restores, disables and deletes stored definitions. */

import type { Command } from 'commander';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { confirm, yesFlag } from '../confirm.ts';
import { gatewayOf } from '../gateway-client.ts';
import {
  idempotencyHeader,
  idempotencyOption,
  jsonFlag,
  jsonOption,
  type OutputOptions,
  objectOption,
  secondsOption,
} from '../options.ts';
import { allItems, showList } from '../show-list.ts';
import { DEFAULT_WAIT_SECONDS, showOutcome } from '../show-outcome.ts';
import { formatJson } from '../text-layout.ts';
import { findVersion, historyOf, WORKFLOW_LAYOUT } from '../workflows.ts';
import type { AddCommand, CommandContext } from './command.ts';
import { addVersions } from './versions.ts';

interface RunOptions extends OutputOptions {
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

function addListing(workflows: Command, { terminal }: CommandContext): void {
  workflows
    .command('list')
    .description('list all stored workflows')
    .option('--tag <tag>', 'only workflows with this tag')
    .addOption(jsonFlag())
    .action(async ({ tag, json }: OutputOptions & { readonly tag?: string }) => {
      const gateway = gatewayOf(terminal);
      const items = await allItems(
        (page) => gateway.call('GET', '/api/workflows', { query: { tag, ...page } }),
        (words) => terminal.err(words),
      );
      showList(terminal, items, json, WORKFLOW_LAYOUT);
    });
}

function addShow(workflows: Command, { terminal }: CommandContext): void {
  workflows
    .command('show')
    .description('print a workflow as its author wrote it; with --json its definition and facts')
    .argument('<slug>', 'the workflow')
    .option('--version <version>', 'the number or hash of a version; default: the current one')
    .addOption(jsonFlag())
    .action(async (slug: string, { version, json }: OutputOptions & { readonly version?: string }) => {
      const gateway = gatewayOf(terminal);
      const hash = version === undefined ? undefined : findVersion(slug, await historyOf(gateway, slug), version).hash;
      if (json !== true) {
        const call = { params: { slug }, query: { hash } };
        const { body } = await gateway.call('GET', '/api/workflows/:slug/text', call);
        terminal.out(body.text.trimEnd());
        return;
      }
      const { body } =
        hash === undefined
          ? await gateway.call('GET', '/api/workflows/:slug', { params: { slug } })
          : await gateway.call('GET', '/api/workflows/:slug/history/:hash', { params: { slug, hash } });
      terminal.out(formatJson(body));
    });
}

function addRunning(workflows: Command, { terminal, exitWith }: CommandContext): void {
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
    .action(async (slug: string, { wait, json, idempotencyKey, ...start }: RunOptions) => {
      const gateway = gatewayOf(terminal);
      const { body } = await gateway.call('POST', '/api/triggers/manual/run', {
        json: { workflowId: slug, ...omitUndefined(start) },
        headers: idempotencyHeader(idempotencyKey),
      });
      exitWith(await showOutcome(terminal, gateway, body.executionId, { wait, ...omitUndefined({ json }) }));
    });
}

function addSwitch(
  workflows: Command,
  { terminal }: CommandContext,
  verb: 'enable' | 'disable',
  description: string,
): void {
  workflows
    .command(verb)
    .description(description)
    .argument('<slug>', 'the workflow')
    .addOption(jsonFlag())
    .action(async (slug: string, { json }: OutputOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', `/api/workflows/:slug/${verb}`, { params: { slug } });
      terminal.out(json === true ? formatJson(body) : `${slug} is ${body.enabled ? 'enabled' : 'disabled'}.`);
    });
}

function addDelete(workflows: Command, { terminal }: CommandContext): void {
  workflows
    .command('delete')
    .description('delete a workflow and its triggers; active runs continue, and its versions stay in the history')
    .argument('<slug>', 'the workflow')
    .addOption(yesFlag())
    .addOption(jsonFlag())
    .action(async (slug: string, { yes, json }: OutputOptions & { readonly yes?: boolean }) => {
      await confirm(terminal, `Delete the workflow ${slug} with its triggers?`, yes);
      await gatewayOf(terminal).call('DELETE', '/api/workflows/:slug', { params: { slug } });
      terminal.out(json === true ? formatJson({ slug, deleted: true }) : `${slug} is deleted.`);
    });
}
