/** Reads FILE of the command line: a definition in JSON or YAML, in any dialect; `-` is standard input. */

import { readFile } from 'node:fs/promises';
import { loadActions } from '../actions/load.ts';
import { type Checked, type CheckOptions, check } from '../check/check.ts';
import { hookProblems } from '../client/triggers/hook-config.ts';
import { readHostConfig } from '../config/host-config.ts';
import { parseDocument } from '../definition/document/parse.ts';
import type { VettedDocument } from '../definition/document/vet.ts';
import { CliError, EXIT } from './exit.ts';
import { positionsIn, problemLine } from './problem-lines.ts';
import type { Terminal } from './terminal.ts';

export interface WrittenDocument {
  /** The name in messages. */
  readonly file: string;
  readonly text: string;
  readonly document: VettedDocument;
}

/** @throws CliError if the file does not exist, or is neither JSON nor YAML */
export async function readDocument(terminal: Terminal, file: string): Promise<WrittenDocument> {
  const text = await readText(terminal, file);
  const name = file === '-' ? '<stdin>' : file;
  const parsed = parseDocument(text);
  if ('document' in parsed) return { file: name, text, document: parsed.document };
  const lines = parsed.problems.map((problem) => {
    const { line, column } = problem;
    return problemLine('error', problem, name, line === undefined ? undefined : { line, column: column ?? 1 });
  });
  throw new CliError(EXIT.input, `${name} is neither valid JSON nor valid YAML.`, lines);
}

/** The text of a file, or standard input. @throws CliError if it cannot be read */
async function readText(terminal: Terminal, file: string): Promise<string> {
  if (file === '-') return terminal.input();
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new CliError(EXIT.input, `${file} cannot be read (${reason}). Pass a file, or - for standard input.`);
  }
}

/** Checks the document as the gateway does, without a gateway. */
export async function checkWritten(
  terminal: Terminal,
  written: WrittenDocument,
  options: CheckOptions,
): Promise<Checked> {
  const { bash, actionsDir } = readHostConfig(terminal.env);
  const actions = await loadActions(actionsDir);
  const checked = check(written.document, { bash: bash !== 'off', actions, ...options });
  if (!checked.valid || checked.definition === undefined) return checked;
  const problems = hookProblems(checked.definition);
  return problems.length === 0 ? checked : { ...checked, valid: false, problems };
}

/** Every problem and warning as a line with its position in the file. */
export function findingLines({ file, text }: WrittenDocument, found: Pick<Checked, 'problems' | 'warnings'>): string[] {
  const placeOf = positionsIn(text);
  return [
    ...found.problems.map((problem) => problemLine('error', problem, file, placeOf(problem.pointer))),
    ...found.warnings.map((problem) => problemLine('warning', problem, file, placeOf(problem.pointer))),
  ];
}
