/** `signalbox propose FILE`: proposes a change of a stored definition for review by somebody else. */
import { omitUndefined } from '../../json/omit-undefined.ts';
import { showDiff } from '../diff-text.ts';
import { CliError, EXIT } from '../exit.ts';
import { type Gateway, gatewayOf } from '../gateway-client.ts';
import { dialectOption, jsonFlag, type OutputOptions } from '../options.ts';
import { checkWritten, findingLines, readDocument } from '../read-document.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface ProposeOptions extends OutputOptions {
  readonly workflow?: string;
  readonly base?: string;
  readonly notes?: string;
  readonly execution?: string;
  readonly dialect?: string;
}

export const addPropose: AddCommand = (program, { terminal }) => {
  program
    .command('propose')
    .description('propose a change of a stored definition for review by somebody else')
    .argument('<file>', 'the changed definition in YAML or JSON, in any dialect; - is standard input')
    .option('--workflow <slug>', 'the workflow; default: the slug in the file')
    .option('--base <hash>', 'the version to change; default: the current one')
    .option('--notes <text>', 'the reason')
    .option('--execution <id>', 'the run that proposes the change')
    .addOption(dialectOption())
    .addOption(jsonFlag())
    .action(async (file: string, options: ProposeOptions) => {
      const { notes, execution, dialect, json } = options;
      const written = await readDocument(terminal, file);
      const checked = await checkWritten(terminal, written, dialect === undefined ? {} : { dialect });
      if (checked.definition === undefined || !checked.valid)
        throw new CliError(EXIT.input, `${written.file} is not a valid definition.`, findingLines(written, checked));
      const slug = options.workflow ?? checked.definition.slug;
      const gateway = gatewayOf(terminal);
      const { body } = await gateway.call('POST', '/api/workflows/:slug/proposals', {
        params: { slug },
        json: {
          baseWorkflowHash: options.base ?? (await storedHash(gateway, slug)),
          text: written.text,
          ...omitUndefined({ notes, executionId: execution, dialect }),
        },
      });
      if (json === true) terminal.out(formatJson(body));
      else {
        showDiff(terminal, body.diffText);
        terminal.out(`Proposal ${body.id} of ${slug} is ${body.status}, until ${body.expiresAt}.`);
        terminal.out(`Somebody else reviews it: npx signalbox proposals approve ${slug} ${body.id}`);
        terminal.out(`Then apply it:            npx signalbox proposals apply ${slug} ${body.id}`);
      }
    });
};

async function storedHash(gateway: Gateway, slug: string): Promise<string> {
  return (await gateway.call('GET', '/api/workflows/:slug', { params: { slug } })).body.hash;
}
