/** What the runners of scripts share: their input, their result and their errors. */
import type { CODE_LANGUAGES } from '../../src/contract/run/activity-options.ts';
import { asJson, type Json, type JsonObject } from '../../src/json/json.ts';
import { ActivityError, transientError } from '../runtime/failure.ts';

export interface Script {
  readonly language: (typeof CODE_LANGUAGES)[number];
  readonly code: string;
  readonly input: Json;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** The longest result as JSON; MAX_RESULT_CHARACTERS if absent. */
  readonly resultCharacters?: number;
  /** Kills the script and its process. */
  readonly signal: AbortSignal;
}

export interface ConsoleLine {
  readonly level: string;
  readonly text: string;
}

export interface ScriptResult {
  /** The returned value as JSON; null for undefined. */
  readonly data: Json;
  /** At most 200 lines and 32,000 characters. */
  readonly console: readonly ConsoleLine[];
  readonly consoleIsCut: boolean;
}

/** The longest result as JSON, in characters. */
export const MAX_RESULT_CHARACTERS = 1_900_000;

/** The answer of a child process. Its texts come from the script and are untrusted. */
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
  const written = asJson(console);
  const details = { ...error.details, ...(console.length === 0 ? {} : { console: written }) };
  throw scriptError(error.code, error.message, script, details);
}

/** Scripts are deterministic and have no side effects, so a retry only helps if the process was lost. */
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
      return transientError(code, 'The process that ran the code ended before the code did.', details);
    default:
      return new ActivityError(code, message, { details });
  }
}
