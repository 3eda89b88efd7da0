import { shellQuoted } from '../../json/shell.ts';
import { type CompletedCommand, optionValues, subcommandPaths } from './commands.ts';

/** A script for bash. Where it knows nothing, bash completes names of files. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return `# signalbox: completion for bash. Load it with: source <(signalbox completion bash)
_signalbox() {
  local current=\${COMP_WORDS[COMP_CWORD]} at= words= flags= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/\${COMP_WORDS[i]}" in
      ${subcommandPaths(commands).map(shellQuoted).join(' | ')}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$at:\${COMP_WORDS[COMP_CWORD - 1]}" in
${optionValues(commands)
  .map(({ at, choices }) => `    ${at}) words=${shellQuoted(choices.join(' '))} ;;`)
  .join('\n')}
    *)
      case "$at" in
${commands.map((command) => `        ${shellQuoted(command.path)}) ${wordsOf(command)} ;;`).join('\n')}
      esac
      [[ $current == -* ]] && words=$flags
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _signalbox signalbox`;
}

function wordsOf({ subcommands, choices, options }: CompletedCommand): string {
  const words = [...subcommands.map(({ name }) => name), ...choices];
  const flags = options.flatMap((option) => option.flags);
  return `words=${shellQuoted(words.join(' '))} flags=${shellQuoted(flags.join(' '))}`;
}
