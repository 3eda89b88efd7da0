import { type CompletedCommand, subcommandPaths } from './commands.ts';

/** A script for fish. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  return `# signalbox: completion for fish. Load it with: signalbox completion fish | source
function __signalbox_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at/$word"
            case ${subcommandPaths(commands).map(quoted).join(' ')}
                set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
complete -c signalbox -e
${commands.flatMap(linesOf).join('\n')}`;
}

function linesOf({ path, subcommands, choices, options }: CompletedCommand): string[] {
  const here = `complete -c signalbox -n ${quoted(`__signalbox_at ${quoted(path)}`)}`;
  return [
    ...subcommands.map(({ name, description }) => `${here} -f -a ${quoted(name)} -d ${quoted(description)}`),
    ...(choices.length === 0 ? [] : [`${here} -f -a ${quoted(choices.join(' '))}`]),
    ...options.map(({ flags, description, takesValue, choices: values }) => {
      const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      const value = values.length === 0 ? (takesValue ? ['-r'] : []) : [`-x -a ${quoted(values.join(' '))}`];
      return [here, ...names, ...value, `-d ${quoted(description)}`].join(' ');
    }),
  ];
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
