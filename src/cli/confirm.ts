/** Asks a person before something is lost. Scripts are not asked. */
import { Option } from 'commander';
import { CliError, EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';

export const yesFlag = (): Option => new Option('-y, --yes', 'do not ask');

/** `question` is `Delete the secret pay?`. @throws CliError if the person does not say yes */
export async function confirm(terminal: Terminal, question: string, yes: boolean | undefined): Promise<void> {
  if (yes === true || !terminal.isInteractive) return;
  const answer = await terminal.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new CliError(EXIT.input, 'Nothing was changed.');
}
