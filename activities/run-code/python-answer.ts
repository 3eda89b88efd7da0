/**
 * Parses the line that a Python process answers with. A script that breaks out of Python can write any line, so every
 * member is checked.
 */
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { parsedJson } from '../../src/json/model-json.ts';
import type { ConsoleLine, ScriptAnswer } from './script.ts';

const ERROR_CODES: ReadonlySet<string> = new Set([
  'script_error',
  'script_invalid',
  'script_out_of_memory',
  'result_too_large',
  'result_too_deep',
]);
const MAX_MESSAGE_CHARACTERS = 1_500;
const MAX_DETAILS_CHARACTERS = 8_000;
const MAX_LINES = 200;
const MAX_CONSOLE_CHARACTERS = 40_000;

/** Undefined if the line is not an answer. */
export function readAnswer(line: string): ScriptAnswer | undefined {
  const parsed = parsedJson(line);
  if (!isObject(parsed)) return undefined;
  const { result, error } = parsed;
  const console = readConsole(parsed['console']);
  const consoleIsCut = parsed['consoleIsCut'] === true || console === undefined;
  const output = { console: console ?? [], consoleIsCut };
  if (isObject(error)) return { ...output, error: readError(error) };
  if (result === undefined) return { ...output };
  return typeof result === 'string' && parsedJson(result) !== undefined ? { ...output, result } : undefined;
}

function readError({ code, message, details }: JsonObject): NonNullable<ScriptAnswer['error']> {
  return {
    code: typeof code === 'string' && ERROR_CODES.has(code) ? code : 'script_error',
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_CHARACTERS) : 'The code failed.',
    ...(isObject(details) && JSON.stringify(details).length <= MAX_DETAILS_CHARACTERS ? { details } : {}),
  };
}

function readConsole(lines: Json | undefined): ConsoleLine[] | undefined {
  if (!Array.isArray(lines) || lines.length > MAX_LINES) return undefined;
  const read = lines.flatMap((line) => {
    const { level, text } = isObject(line) ? line : {};
    return typeof level === 'string' && typeof text === 'string' ? [{ level, text }] : [];
  });
  const characters = read.reduce((sum, { level, text }) => sum + level.length + text.length, 0);
  return characters <= MAX_CONSOLE_CHARACTERS ? read : undefined;
}
