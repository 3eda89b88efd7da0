/** Python. */
import { failure, type Script, type ScriptResult } from './script.ts';

export async function runPython(script: Script): Promise<ScriptResult> {
  throw failure('python_unavailable', 'Not yet.', script);
}
