import { shellQuoted } from '../../json/shell.ts';
import { type CompletedCommand, optionValues, subcommandPaths } from './commands.ts';

/** A script for zsh, to be sourced, or to be put into a folder of `fpath` as `_signalbox`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef signalbox
# signalbox: completion for zsh. Load it after compinit with: source <(signalbox completion zsh)
_signalbox() {
  local at='' i
  local -a found flags
  for ((i = 2; i < CURRENT; i++)); do
    case "$at/\${words[i]}" in
      ${subcommandPaths(commands).map(shellQuoted).join(' | ')}) at="\${at:+$at }\${words[i]}" ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${optionValues(commands)
  .map(({ at, choices }) => `    ${at}) ${valuesOf(choices)}; return ;;`)
  .join('\n')}
  esac
  case "$at" in
${commands.map((command) => `    ${shellQuoted(command.path)}) ${wordsOf(command)} ;;`).join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option flags
  elif ((\${#found})); then
    _describe command found
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _signalbox ]]; then _signalbox "$@"; else compdef _signalbox signalbox; fi`;
}

const valuesOf = (choices: readonly string[]): string =>
  choices.length === 0 ? '_files' : `compadd -- ${choices.map(shellQuoted).join(' ')}`;

function wordsOf({ subcommands, choices, options }: CompletedCommand): string {
  const words = [
    ...subcommands.map(({ name, description }) => described(name, description)),
    ...choices.map(shellQuoted),
  ];
  const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
  return `found=(${words.join(' ')}) flags=(${flags.join(' ')})`;
}

const described = (word: string, description: string): string => shellQuoted(`${word}:${description}`);
