/** `signalbox init [FOLDER]`: writes a project with a definition, an action, tests and a CI file. */
import { InvalidArgumentError } from 'commander';
import { writeProject } from '../init.ts';
import { jsonFlag, type OutputOptions } from '../options.ts';
import { formatJson } from '../text-layout.ts';
import type { AddCommand } from './command.ts';

interface InitOptions extends OutputOptions {
  readonly signalbox?: string;
}

export const addInit: AddCommand = (program, { terminal }) => {
  program
    .command('init')
    .description('write a project: definitions, actions, tests and a CI file; it overwrites nothing')
    .argument('[folder]', 'where to; it is created if it does not exist', '.')
    .option(
      '--signalbox <place>',
      'where package.json takes Signalbox from, as npm install names it; default: npm, in this version',
      placeOption,
    )
    .addOption(jsonFlag())
    .action(async (folder: string, { signalbox, json }: InitOptions) => {
      const { written, root } = await writeProject(folder, signalbox);
      if (json === true) {
        terminal.out(formatJson({ folder: root, files: written }));
        return;
      }
      for (const file of written) terminal.out(file);
      terminal.err(`Wrote a project in ${root}. Next: npm install && npm test. Its README.md says more.`);
    });
};

function placeOption(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('Expected a place such as file:../signalbox.');
}
