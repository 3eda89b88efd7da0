/** `signalbox workflows history`, `diff` and `rollback`: versions of a stored definition. */

import type { Command } from 'commander';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { confirm, yesFlag } from '../confirm.ts';
import { showDiff } from '../diff-text.ts';
import { CliError, EXIT } from '../exit.ts';
import type { VersionDifference, WorkflowChange } from '../gateway-answers.ts';
import { type Gateway, gatewayOf } from '../gateway-client.ts';
import { dialectOption, jsonFlag, type OutputOptions } from '../options.ts';
import { checkWritten, findingLines, readDocument } from '../read-document.ts';
import { showList } from '../show-list.ts';
import type { Terminal } from '../terminal.ts';
import { formatJson, truncateText } from '../text-layout.ts';
import { abbreviatedHash, definitionIn, findVersion, historyOf, versionDefinition } from '../workflows.ts';
import type { CommandContext } from './command.ts';

const NOTES_WIDTH = 60;

type Difference = Pick<VersionDifference, 'changes' | 'diffText'>;

interface DiffOptions extends OutputOptions {
  readonly file?: string;
  readonly dialect?: string;
  readonly exitCode?: boolean;
}

interface RollbackOptions extends OutputOptions {
  readonly notes?: string;
  readonly yes?: boolean;
}

export function addVersions(workflows: Command, host: CommandContext): void {
  addHistory(workflows, host);
  addDiff(workflows, host);
  addRollback(workflows, host);
}

function addHistory(workflows: Command, { terminal }: CommandContext): void {
  workflows
    .command('history')
    .description('list the versions of a workflow, newest first, also after it was deleted')
    .argument('<slug>', 'the workflow')
    .addOption(jsonFlag())
    .action(async (slug: string, { json }: OutputOptions) => {
      showList(terminal, await historyOf(gatewayOf(terminal), slug), json, {
        head: ['VERSION', 'HASH', 'SOURCE', 'CREATED', 'BY', 'NOTES'],
        cells: ({ version, hash, source, createdAt, createdBy, notes }) => [
          version,
          abbreviatedHash(hash),
          source,
          createdAt,
          createdBy ?? '',
          truncateText(notes ?? '', NOTES_WIDTH),
        ],
        none: 'No versions.',
      });
    });
}

function addDiff(workflows: Command, { terminal, exitWith }: CommandContext): void {
  workflows
    .command('diff')
    .description('compare two versions of a workflow, or a version with a file')
    .argument('<slug>', 'the workflow')
    .argument('[from]', 'the number or hash of the earlier version; default: the previous one')
    .argument('[to]', 'the number or hash of the later version; default: the current one')
    .option('--file <file>', 'compare the version, by default the current one, with this file; - is standard input')
    .option('--exit-code', `end with ${EXIT.differs} where there are differences`)
    .addOption(dialectOption())
    .addOption(jsonFlag())
    .action(async (slug: string, from: string | undefined, to: string | undefined, options: DiffOptions) => {
      const { file, json } = options;
      if (file !== undefined && to !== undefined)
        throw new CliError(EXIT.usage, '--file is compared with one version. Leave the second version out.');
      const gateway = gatewayOf(terminal);
      const found =
        file === undefined
          ? await diffVersions(gateway, slug, from, to)
          : await diffWithFile(terminal, gateway, slug, from, { ...options, file });
      if (json === true) terminal.out(formatJson(found));
      else if (found.changes.length === 0) terminal.err('No differences.');
      else showDiff(terminal, found.diffText);
      if (options.exitCode === true && found.changes.length > 0) exitWith(EXIT.differs);
    });
}

async function diffVersions(
  gateway: Gateway,
  slug: string,
  from: string | undefined,
  to: string | undefined,
): Promise<Difference> {
  const changes = await historyOf(gateway, slug);
  const later = to === undefined ? changes[0] : findVersion(slug, changes, to);
  const earlier =
    from === undefined ? changes.find(({ hash }) => hash !== later?.hash) : findVersion(slug, changes, from);
  if (later === undefined || earlier === undefined)
    throw new CliError(EXIT.input, `Workflow ${slug} has one version only, so there is nothing to compare.`);
  const query = { from: earlier.hash, to: later.hash };
  return (await gateway.call('GET', '/api/workflows/:slug/diff', { params: { slug }, query })).body;
}

async function diffWithFile(
  terminal: Terminal,
  gateway: Gateway,
  slug: string,
  from: string | undefined,
  { file, dialect }: DiffOptions & { readonly file: string },
): Promise<Difference> {
  const written = await readDocument(terminal, file);
  const checked = await checkWritten(terminal, written, omitUndefined({ dialect }));
  if (checked.definition === undefined)
    throw new CliError(EXIT.input, `${written.file} is not a valid definition.`, findingLines(written, checked));
  const { name, definition } = await storedVersion(gateway, slug, from);
  const { definitionDifference } = await import('../../definition/document/diff.ts');
  return definitionDifference(definition, { ...checked.definition, slug }, { before: name, after: written.file });
}

async function storedVersion(gateway: Gateway, slug: string, version: string | undefined) {
  if (version === undefined) {
    const { body } = await gateway.call('GET', '/api/workflows/:slug', { params: { slug } });
    return { name: titleOf(slug, body), definition: definitionIn(body) };
  }
  const change = findVersion(slug, await historyOf(gateway, slug), version);
  return { name: titleOf(slug, change), definition: await versionDefinition(gateway, slug, change.hash) };
}

const titleOf = (slug: string, { version, hash }: Pick<WorkflowChange, 'version' | 'hash'>): string =>
  `${slug} ${version} ${hash}`;

function addRollback(workflows: Command, { terminal }: CommandContext): void {
  workflows
    .command('rollback')
    .description('make an earlier version the current one, under a new number')
    .argument('<slug>', 'the workflow')
    .argument('<version>', 'the number or hash of the version')
    .option('--notes <text>', 'the reason, which the history shows')
    .addOption(yesFlag())
    .addOption(jsonFlag())
    .action(async (slug: string, version: string, { notes, yes, json }: RollbackOptions) => {
      const gateway = gatewayOf(terminal);
      const change = findVersion(slug, await historyOf(gateway, slug), version);
      await confirm(terminal, `Make ${titleOf(slug, change)} the current version?`, yes);
      const { body } = await gateway.call('POST', '/api/workflows/:slug/rollback', {
        params: { slug },
        json: { workflowHash: change.hash, ...omitUndefined({ notes }) },
      });
      if (json === true) terminal.out(formatJson(body));
      else
        terminal.out(
          body.alreadyAtVersion
            ? `${slug} is at that version already.`
            : `${slug} ${body.version} has the content of ${version}.`,
        );
    });
}
