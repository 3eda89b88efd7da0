/** `signalbox validate FILE`: checks a definition without running it and without a gateway. */
import { EXIT } from '../exit.ts';
import { dialectOption, jsonFlag, type OutputOptions } from '../options.ts';
import { checkWritten, findingLines, readDocument } from '../read-document.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface ValidateOptions extends OutputOptions {
  readonly dialect?: string;
}

export const addValidate: AddCommand = (program, { terminal, exitWith }) => {
  program
    .command('validate')
    .description('check a definition and print every problem with its line and a remedy')
    .argument('<file>', 'the definition in YAML or JSON, in any dialect; - is standard input')
    .addOption(dialectOption())
    .addOption(jsonFlag())
    .action(async (file: string, { dialect, json }: ValidateOptions) => {
      const written = await readDocument(terminal, file);
      const checked = await checkWritten(terminal, written, dialect === undefined ? {} : { dialect });
      const { valid, problems, warnings, hash } = checked;
      if (json === true) terminal.out(formatJson({ valid, dialect: checked.dialect, problems, warnings, hash }));
      else {
        for (const line of findingLines(written, checked)) terminal.out(line);
        const verdict = valid ? 'valid' : `${problems.length} problem${problems.length === 1 ? '' : 's'}`;
        terminal.out(
          `${written.file}: ${verdict} (dialect ${checked.dialect}${hash === undefined ? '' : `, ${hash}`})`,
        );
      }
      if (!valid) exitWith(EXIT.input);
    });
};
