/** `signalbox import --from DIALECT FILE`: converts a definition of another dialect into canonical YAML. */

import { Option } from 'commander';
import { stringify } from 'yaml';
import { DIALECTS } from '../../compat/dialects.ts';
import type { Definition } from '../../definition/document/types.ts';
import { CliError, EXIT } from '../exit.ts';
import { checkWritten, findingLines, readDocument } from '../read-document.ts';
import type { AddCommand } from './command.ts';

/** The order of LANGUAGE.md §1; other members follow, and steps come last. */
const ORDER: readonly (keyof Definition)[] = [
  'name',
  'slug',
  'type',
  'version',
  'enabled',
  'description',
  'tags',
  'flow',
  'start',
  'input',
  'state',
  'config',
  'constraints',
  'triggers',
  'output',
];

export const addImport: AddCommand = (program, { terminal, exitWith }) => {
  program
    .command('import')
    .description('convert a definition of another dialect and print it as canonical YAML')
    .argument('<file>', 'the document in YAML or JSON; - is standard input')
    .addOption(
      new Option('--from <dialect>', 'the dialect of the document, by number or system')
        .choices(DIALECTS)
        .makeOptionMandatory(),
    )
    .action(async (file: string, { from }: { from: string }) => {
      const written = await readDocument(terminal, file);
      const checked = await checkWritten(terminal, written, { dialect: from });
      const { definition, secrets } = checked;
      const lines = findingLines(written, checked);
      if (definition === undefined) throw new CliError(EXIT.input, `${written.file} cannot be imported.`, lines);
      for (const line of lines) terminal.err(line);
      for (const { name } of secrets)
        terminal.err(
          `secret ${name} was removed. Store its value with PUT ` + `/api/secrets/${encodeURIComponent(name)}.`,
        );
      terminal.out(canonicalYaml(definition).trimEnd());
      if (!checked.valid) exitWith(EXIT.input);
    });
};

/** The definition as YAML with the steps last. */
function canonicalYaml(definition: Definition): string {
  const { steps, ...head } = definition;
  const first = ORDER.filter((member) => member in head);
  const ordered = Object.fromEntries(
    [...first, ...Object.keys(head).filter((member) => !first.includes(member as keyof Definition))].map((member) => [
      member,
      head[member as keyof typeof head],
    ]),
  );
  return stringify({ ...ordered, steps }, { lineWidth: 120, aliasDuplicateObjects: false });
}
