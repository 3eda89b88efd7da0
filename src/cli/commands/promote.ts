/** `signalbox promote SLUG…`: takes definitions to another gateway or organization. */

import { InvalidArgumentError } from 'commander';
import { SETTINGS } from '../../config/settings.ts';
import { confirm, yesFlag } from '../confirm.ts';
import { showDiff } from '../diff-text.ts';
import { CliError, EXIT } from '../exit.ts';
import type { StoredWorkflow } from '../gateway-answers.ts';
import { type Gateway, gatewayAt, gatewayOf } from '../gateway-client.ts';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { problemLine } from '../problem-lines.ts';
import type { Promotion } from '../promote.ts';
import type { Terminal } from '../terminal.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

/** The variable that holds the key of the target. A key is never an argument, which other users can see. */
const TARGET_KEY = 'SIGNALBOX_TO_API_KEY';

interface PromoteOptions extends OutputOptions {
  readonly to?: string;
  readonly version?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const addPromote: AddCommand = (program, { terminal }) => {
  program
    .command('promote')
    .description(`take workflows to another gateway or organization, whose API key is in ${TARGET_KEY}`)
    .argument('<slugs...>', 'the workflows')
    .option(
      '--to <url>',
      'the URL of the other gateway; default: the same gateway, for another organization',
      urlOption,
    )
    .option('--version <version>', 'the number or hash of the version; default: the current one')
    .option('--dry-run', 'only show what would change')
    .addOption(yesFlag())
    .addOption(jsonFlag())
    .action(async (slugs: readonly string[], options: PromoteOptions) => {
      const { version, dryRun = false, yes, json } = options;
      if (version !== undefined && slugs.length > 1)
        throw new CliError(EXIT.usage, '--version is for one workflow. Promote the others without it.');
      const source = gatewayOf(terminal);
      const target = targetOf(terminal, source, options.to);
      const organization = await organizationAt(target);
      const results: object[] = [];
      const { comparePromotion } = await import('../promote.ts');
      for (const slug of slugs) {
        const found = await comparePromotion(source, target, slug, version);
        const { store, ...facts } = found;
        if (json !== true) printPromotion(terminal, found);
        const isStored = !dryRun && !found.isUpToDate;
        if (isStored) await confirm(terminal, `Store ${slug} in ${organization} at ${target.url}?`, yes);
        const stored = isStored ? await store() : undefined;
        results.push({ ...facts, organization, stored: stored ?? null });
        if (json !== true) terminal.out(resultLine(found, stored, organization, target.url));
      }
      if (json === true) terminal.out(formatJson(results));
    });
};

function targetOf({ env }: Terminal, source: Gateway, to: string | undefined): Gateway {
  const key = env[TARGET_KEY];
  const url = to ?? source.url;
  if (url === source.url && (key ?? '') === '')
    throw new CliError(
      EXIT.usage,
      `Say where to: set --to to the URL of another gateway, or ${TARGET_KEY} to a key of another organization.`,
    );
  // The key of the source is never sent to the target.
  return gatewayAt({ url, key, keyVariable: TARGET_KEY });
}

async function organizationAt(gateway: Gateway): Promise<string> {
  return (await gateway.call('GET', '/api/me')).body.organization;
}

function printPromotion(terminal: Terminal, { slug, diffText, missingSecrets, needs, warnings }: Promotion): void {
  if (diffText !== '') showDiff(terminal, diffText);
  for (const warning of warnings) terminal.err(problemLine('warning', warning));
  for (const name of missingSecrets)
    terminal.err(`${slug} uses the secret ${name}, which is not stored there. Store it with signalbox secrets set.`);
  for (const need of needs) terminal.err(`${slug} ${need}.`);
}

function resultLine(
  { slug, isUpToDate }: Promotion,
  stored: StoredWorkflow | undefined,
  organization: string,
  url: string,
): string {
  const place = `in ${organization} at ${url}`;
  if (isUpToDate) return `${slug} is up to date ${place}.`;
  if (stored === undefined) return `${slug} was not stored ${place}: dry run.`;
  return `${slug} ${stored.version} stored ${place}, ${stored.hash}`;
}

function urlOption(text: string): string {
  const url = SETTINGS.shape.SIGNALBOX_URL.safeParse(text);
  if (url.success && url.data !== undefined) return url.data;
  throw new InvalidArgumentError('Expected a URL such as https://signalbox.example.com, without a key in it.');
}
