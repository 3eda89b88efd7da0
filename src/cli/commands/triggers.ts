/** `signalbox triggers`: lists, shows, creates, changes, switches, fires, backfills and deletes triggers. */

import { type Command, Option } from 'commander';
import { TRIGGER_TYPES } from '../../definition/document/types.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { confirm, yesFlag } from '../confirm.ts';
import type { Trigger } from '../gateway-answers.ts';
import { gatewayOf } from '../gateway-client.ts';
import { idempotencyHeader, idempotencyOption, jsonFlag, jsonOption, type OutputOptions } from '../options.ts';
import { readDocument } from '../read-document.ts';
import { allItems, showList } from '../show-list.ts';
import { formatJson, truncateText } from '../text-layout.ts';
import { applyTrigger, writtenTriggers } from '../triggers.ts';
import type { AddCommand, CommandContext } from './command.ts';

const MESSAGE_WIDTH = 80;
const OVERLAPS = ['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'terminate_other', 'allow_all'];

interface ListOptions extends OutputOptions {
  readonly workflow?: string;
  readonly type?: string;
  readonly enabled?: string;
}

interface RunOptions extends OutputOptions {
  readonly input?: Json;
  readonly idempotencyKey?: string;
}

interface BackfillOptions extends OutputOptions {
  readonly from: string;
  readonly to: string;
  readonly overlap?: string;
}

export const addTriggers: AddCommand = (program, host) => {
  const triggers = program.command('triggers').description('manage what starts runs: webhooks, schedules, events');
  addListing(triggers, host);
  addShow(triggers, host);
  addApply(triggers, host);
  addSwitch(triggers, host, 'enable', 'enable a trigger, until its definition says otherwise');
  addSwitch(triggers, host, 'disable', 'disable a trigger, until its definition says otherwise');
  addRunning(triggers, host);
  addBackfill(triggers, host);
  addDeliveries(triggers, host);
  addDelete(triggers, host);
};

function addListing(triggers: Command, { terminal }: CommandContext): void {
  triggers
    .command('list')
    .description('list triggers, in definitions and outside them')
    .option('--workflow <slug>', 'only triggers of this workflow')
    .addOption(new Option('--type <type>', 'only triggers of this type').choices(TRIGGER_TYPES))
    .addOption(new Option('--enabled <answer>', 'only the enabled, or only the disabled').choices(['true', 'false']))
    .addOption(jsonFlag())
    .action(async ({ workflow, type, enabled, json }: ListOptions) => {
      const gateway = gatewayOf(terminal);
      const items = await allItems(
        (page) => gateway.call('GET', '/api/triggers', { query: { workflowId: workflow, type, enabled, ...page } }),
        (words) => terminal.err(words),
      );
      showList(terminal, items, json, {
        head: ['ID', 'TYPE', 'ENABLED', 'SOURCE', 'LAST RUN', 'LAST'],
        cells: (one) => [
          one.id,
          one.type,
          one.enabled ? 'yes' : 'no',
          one.source,
          one.lastRunAt ?? '',
          one.last === undefined ? '' : [one.last.outcome, one.last.code ?? ''].join(' ').trim(),
        ],
        none: 'No triggers.',
      });
    });
}

function addShow(triggers: Command, { terminal }: CommandContext): void {
  triggers
    .command('show')
    .description('print a trigger as JSON, with its next times and its last result')
    .argument('<id>', 'the trigger: WORKFLOW.NAME')
    .addOption(jsonFlag())
    .action(async (id: string) => {
      const { body } = await gatewayOf(terminal).call('GET', '/api/triggers/:id', { params: { id } });
      terminal.out(formatJson(body));
    });
}

function addApply(triggers: Command, { terminal }: CommandContext): void {
  triggers
    .command('apply')
    .description('create the triggers in a file, or change those that exist; plain-text secrets are stored encrypted')
    .argument('<file>', 'a trigger, or a list of triggers, in YAML or JSON; - is standard input')
    .addOption(jsonFlag())
    .action(async (file: string, { json }: OutputOptions) => {
      const written = await readDocument(terminal, file);
      const wanted = writtenTriggers(written);
      const gateway = gatewayOf(terminal);
      const applied: Trigger[] = [];
      for (const one of wanted) {
        const { created, trigger } = await applyTrigger(gateway, one);
        applied.push(trigger);
        if (json === true) continue;
        terminal.out(`${trigger.id} is ${created ? 'created' : 'changed'}.`);
        if (trigger.webhookUrl !== undefined) terminal.out(`  ${trigger.webhookUrl}`);
      }
      if (json === true) terminal.out(formatJson(applied));
    });
}

function addSwitch(
  triggers: Command,
  { terminal }: CommandContext,
  verb: 'enable' | 'disable',
  description: string,
): void {
  triggers
    .command(verb)
    .description(description)
    .argument('<id>', 'the trigger: WORKFLOW.NAME')
    .addOption(jsonFlag())
    .action(async (id: string, { json }: OutputOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', `/api/triggers/:id/${verb}`, { params: { id } });
      terminal.out(json === true ? formatJson(body) : `${id} is ${body.enabled ? 'enabled' : 'disabled'}.`);
    });
}

function addRunning(triggers: Command, { terminal }: CommandContext): void {
  triggers
    .command('run')
    .description('fire a trigger by hand')
    .argument('<id>', 'the trigger: WORKFLOW.NAME')
    .option('--input <json>', 'the body that its mapping reads; @FILE reads it from a file', jsonOption)
    .addOption(idempotencyOption())
    .addOption(jsonFlag())
    .action(async (id: string, { input, idempotencyKey, json }: RunOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/triggers/:id/run', {
        params: { id },
        json: omitUndefined({ input }),
        headers: idempotencyHeader(idempotencyKey),
      });
      terminal.out(json === true ? formatJson(body) : `${body.executionId}  ${body.status}`);
    });
}

function addBackfill(triggers: Command, { terminal }: CommandContext): void {
  triggers
    .command('backfill')
    .description('fire a schedule for each of its times in a time span')
    .argument('<id>', 'the trigger: WORKFLOW.NAME')
    .requiredOption('--from <time>', 'the start of the time span, such as 2026-01-16T00:00:00Z')
    .requiredOption('--to <time>', 'the end of the time span')
    .addOption(new Option('--overlap <policy>', 'the overlap policy of these runs').choices(OVERLAPS))
    .addOption(jsonFlag())
    .action(async (id: string, { from, to, overlap, json }: BackfillOptions) => {
      const { body } = await gatewayOf(terminal).call('POST', '/api/triggers/:id/backfill', {
        params: { id },
        json: { start: from, end: to, ...omitUndefined({ overlap }) },
      });
      terminal.out(json === true ? formatJson(body) : `${id} fires for ${body.times} times.`);
    });
}

function addDeliveries(triggers: Command, { terminal }: CommandContext): void {
  triggers
    .command('deliveries')
    .description('list the last 20 firings of a trigger with their outcomes, newest first')
    .argument('<id>', 'the trigger: WORKFLOW.NAME')
    .addOption(jsonFlag())
    .action(async (id: string, { json }: OutputOptions) => {
      const { body } = await gatewayOf(terminal).call('GET', '/api/triggers/:id/deliveries', { params: { id } });
      showList(terminal, body.items, json, {
        head: ['AT', 'OUTCOME', 'COUNT', 'EXECUTION', 'CODE', 'MESSAGE'],
        cells: ({ at, outcome, count, executionId, code, message }) => [
          at,
          outcome,
          count > 1 ? String(count) : '',
          executionId ?? '',
          code ?? '',
          truncateText(message ?? '', MESSAGE_WIDTH),
        ],
        none: 'No firings.',
      });
    });
}

function addDelete(triggers: Command, { terminal }: CommandContext): void {
  triggers
    .command('delete')
    .description('delete a trigger that is not in a definition')
    .argument('<id>', 'the trigger: WORKFLOW.NAME')
    .addOption(yesFlag())
    .addOption(jsonFlag())
    .action(async (id: string, { yes, json }: OutputOptions & { readonly yes?: boolean }) => {
      await confirm(terminal, `Delete the trigger ${id}?`, yes);
      await gatewayOf(terminal).call('DELETE', '/api/triggers/:id', { params: { id } });
      terminal.out(json === true ? formatJson({ id, deleted: true }) : `${id} is deleted.`);
    });
}
