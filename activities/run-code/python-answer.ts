/**
 * Parses the line that a Python process answers with. A script that breaks out of Python can write any line, so every
 * member is checked.
 */
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { parsedJson } from '../../src/json/model-json.ts';
import type { ConsoleLine, ScriptAnswer } from './script.ts';

const CODES: ReadonlySet<string> = new Set([
  'script_error',
  'script_invalid',
  'script_out_of_memory',
  'result_too_large',
  'result_too_deep',
]);
const MOST_MESSAGE_CHARACTERS = 1_500;
const MOST_DETAILS_CHARACTERS = 8_000;
const MOST_LINES = 200;
const MOST_CONSOLE_CHARACTERS = 40_000;

/** Undefined if the line is not an answer. */
export function readAnswer(line: string): ScriptAnswer | undefined {
  const told = parsedJson(line);
  if (!isObject(told)) return undefined;
  const { result, error } = told;
  const console = readConsole(told['console']);
  const consoleIsCut = told['consoleIsCut'] === true || console === undefined;
  const said = { console: console ?? [], consoleIsCut };
  if (isObject(error)) return { ...said, error: readError(error) };
  if (result === undefined) return { ...said };
  return typeof result === 'string' && parsedJson(result) !== undefined ? { ...said, result } : undefined;
}

function readError({ code, message, details }: JsonObject): NonNullable<ScriptAnswer['error']> {
  return {
    code: typeof code === 'string' && CODES.has(code) ? code : 'script_error',
    message: typeof message === 'string' ? message.slice(0, MOST_MESSAGE_CHARACTERS) : 'The code failed.',
    ...(isObject(details) && JSON.stringify(details).length <= MOST_DETAILS_CHARACTERS ? { details } : {}),
  };
}

function readConsole(lines: Json | undefined): ConsoleLine[] | undefined {
  if (!Array.isArray(lines) || lines.length > MOST_LINES) return undefined;
  const read = lines.flatMap((line) => {
    const { level, text } = isObject(line) ? line : {};
    return typeof level === 'string' && typeof text === 'string' ? [{ level, text }] : [];
  });
  const characters = read.reduce((sum, { level, text }) => sum + level.length + text.length, 0);
  return characters <= MOST_CONSOLE_CHARACTERS ? read : undefined;
}
