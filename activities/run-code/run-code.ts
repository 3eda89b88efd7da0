/** The activity `runCode`. src/steps/kinds/run-code.ts documents the step. */
import { CODE_LANGUAGES } from '../../src/contract/run/activity-options.ts';
import { asJson, isObject, type Json } from '../../src/json/json.ts';
import { invalidConfig } from '../runtime/failure.ts';
import type { ActivityHandler } from '../runtime/wrap-activity.ts';
import { runJavaScript } from './javascript.ts';
import { runPython } from './python.ts';
import { MAX_RESULT_CHARACTERS, type Script, type ScriptResult } from './script.ts';

/**
 * Runs a script of a definition: JavaScript or TypeScript with `export default function (input)`, Python with
 * `def main(input)`. The script has no access to network, files, environment or other scripts. The number of concurrent
 * scripts is limited; `timeoutMs` counts from the start of the script, without the time in the queue.
 * @throws ActivityError `script_invalid` (syntax), `script_error` (it threw; name, message and stack in details),
 * `script_timeout`, `script_out_of_memory`, `script_crashed` (retryable), `python_unavailable`, `result_too_large`,
 * `result_too_deep`; the signal's reason when it is aborted
 */
export function runScript(script: Script): Promise<ScriptResult> {
  return script.language === 'python' ? runPython(script) : runJavaScript(script);
}

/**
 * Config `{language, code, input, timeoutMs, memoryMb}`, all required; meta `{console, consoleIsCut?, durationMs}`.
 * `resultCharacters` is the largest result that a step can keep on this host.
 */
export function runCodeActivity(resultCharacters = MAX_RESULT_CHARACTERS): ActivityHandler {
  return async (config, { signal }) => {
    const script = { ...readScript(config, signal), resultCharacters };
    const began = performance.now();
    const { data, console, consoleIsCut } = await runScript(script);
    const durationMs = Math.round(performance.now() - began);
    const lines = asJson(console);
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
