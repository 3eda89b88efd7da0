/** What the runners of scripts share: what they are given, what they give, and the words for what goes wrong. */

import type { CODE_LANGUAGES } from '../../src/contract/activity-words.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { ActivityError } from '../runtime/failure.ts';

export interface Script {
  readonly language: (typeof CODE_LANGUAGES)[number];
  readonly code: string;
  readonly input: Json;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** The longest result, as JSON (1.9 MB). */
  readonly resultCharacters?: number;
  /** Ends the script, and with it the process that it runs in. */
  readonly signal: AbortSignal;
}

export interface ConsoleLine {
  readonly level: string;
  readonly text: string;
}

export interface ScriptResult {
  /** What the function returned, as JSON has it; null for nothing. */
  readonly data: Json;
  /** At most 200 lines and 32,000 characters. */
  readonly console: readonly ConsoleLine[];
  readonly consoleIsCut: boolean;
}

/** Of a result, as JSON, where the script says nothing else. */
export const MOST_RESULT_CHARACTERS = 1_900_000;

/** What a child answers. Texts in it come from the script: they are data. */
export interface ScriptAnswer {
  readonly result?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly details?: JsonObject };
  readonly console: readonly ConsoleLine[];
  readonly consoleIsCut: boolean;
  readonly isSpent?: boolean;
}

/** @throws ActivityError */
export function resultOf({ result, error, console, consoleIsCut }: ScriptAnswer, script: Script): ScriptResult {
  if (error === undefined)
    return { data: result === undefined ? null : (JSON.parse(result) as Json), console, consoleIsCut };
  const written = console as unknown as Json;
  const details = { ...error.details, ...(console.length === 0 ? {} : { console: written }) };
  throw scriptError(error.code, error.message, script, details);
}

/** A script has no effect outside and always says the same, so that trying again helps only where its process was lost. */
export function scriptError(code: string, message: string, script: Script, details: JsonObject = {}): ActivityError {
  const { timeoutMs, memoryMb } = script;
  switch (code) {
    case 'script_timeout':
      return new ActivityError(code, `The code ran for longer than ${timeoutMs} ms. Do less, or raise timeoutMs.`, {
        details: { ...details, timeoutMs },
      });
    case 'script_out_of_memory':
      return new ActivityError(code, `The code needs more than ${memoryMb} MiB. Keep less, or raise memoryMb.`, {
        details: { ...details, memoryMb },
      });
    case 'script_crashed':
      return new ActivityError(code, 'The process that ran the code ended before the code did.', {
        retryable: true,
        details,
      });
    default:
      return new ActivityError(code, message, { details });
  }
}
