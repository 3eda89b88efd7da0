/** The commands of the program as completion scripts need them, read from what --help prints. */
import type { Command } from 'commander';
import { shellQuoted } from '../../json/shell.ts';

interface CompletedOption {
  /** `--json`, `-y` */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** The only values. Empty: any. */
  readonly choices: readonly string[];
}

export interface CompletedCommand {
  /** `workflows run`; the program itself is empty. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  /** The values of arguments that allow only some. */
  readonly choices: readonly string[];
  readonly options: readonly CompletedOption[];
}

/** The program and all commands below it. */
export function completedCommands(command: Command, path = ''): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command).filter((one) => one.name() !== 'help');
  return [
    {
      path,
      subcommands: subcommands.map((one) => ({ name: one.name(), description: one.description() })),
      choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
      options: help.visibleOptions(command).map(({ long, short, description, required, optional, argChoices }) => ({
        flags: [long, short].filter((flag) => flag !== undefined && flag !== null),
        description,
        takesValue: required || optional,
        choices: argChoices ?? [],
      })),
    },
    ...subcommands.flatMap((one) => completedCommands(one, `${path} ${one.name()}`.trim())),
  ];
}

/** For bash and zsh: the position after each option that takes a value, with the values that it allows. */
export const optionValues = (commands: readonly CompletedCommand[]) =>
  commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags, choices }) => flags.map((flag) => ({ at: shellQuoted(`${path}:${flag}`), choices }))),
  );

/** `/run`, `workflows/run`: the path of a command, with a slash before its last word. */
export const subcommandPaths = (commands: readonly CompletedCommand[]): string[] =>
  commands.flatMap(({ path, subcommands }) => subcommands.map(({ name }) => `${path}/${name}`));
