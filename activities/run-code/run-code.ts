/** The activity `runCode`: kind `run_code`. Its manual is src/steps/kinds/run-code.ts. */

import { CODE_LANGUAGES } from '../../src/contract/activity-words.ts';
import { isObject, type Json } from '../../src/json/json.ts';
import { invalidConfig } from '../runtime/failure.ts';
import type { ActivityHandler } from '../runtime/wrap-activity.ts';
import { runJavaScript } from './javascript.ts';
import { runPython } from './python.ts';
import { MOST_RESULT_CHARACTERS, type Script, type ScriptResult } from './script.ts';

/**
 * Runs a script of a definition: JavaScript or TypeScript with `export default function (input)`, Python with
 * `def main(input)`. It reaches no network, no files, no environment and no other script. `timeoutMs` counts from where
 * the script begins; how many run at once is limited, and the others wait.
 * @throws ActivityError `script_invalid` (cannot be read), `script_error` (it threw; name, message and stack in details),
 * `script_timeout`, `script_out_of_memory`, `script_crashed` (may be tried again), `python_unavailable`,
 * `result_too_large`, `result_too_deep`; the signal's reason when it is aborted.
 */
export function runScript(script: Script): Promise<ScriptResult> {
  return script.language === 'python' ? runPython(script) : runJavaScript(script);
}

/**
 * Config `{language, code, input, timeoutMs, memoryMb}`, all given; meta `{console, consoleIsCut?, durationMs}`. A result
 * has at most `resultCharacters`: what a step may keep where the worker runs.
 */
export function runCodeActivity(resultCharacters = MOST_RESULT_CHARACTERS): ActivityHandler {
  return async (config, { signal }) => {
    const script = { ...readScript(config, signal), resultCharacters };
    const began = performance.now();
    const { data, console, consoleIsCut } = await runScript(script);
    const durationMs = Math.round(performance.now() - began);
    const lines = console as unknown as Json;
    return { data, meta: { console: lines, ...(consoleIsCut ? { consoleIsCut } : {}), durationMs } };
  };
}

function readScript(config: Json, signal: AbortSignal): Script {
  const { language, code, input, timeoutMs, memoryMb } = isObject(config) ? config : {};
  const known = CODE_LANGUAGES.find((one) => one === language);
  if (known === undefined) throw invalidConfig('language', `one of ${CODE_LANGUAGES.join(', ')}`);
  if (typeof code !== 'string') throw invalidConfig('code', 'a text');
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) throw invalidConfig('timeoutMs', 'longer than 0');
  if (typeof memoryMb !== 'number' || !(memoryMb > 0)) throw invalidConfig('memoryMb', 'more than 0');
  return { language: known, code, input: input ?? null, timeoutMs, memoryMb, signal };
}
