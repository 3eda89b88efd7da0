import { writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/**
 * The SDK takes a stack for every promise that a workflow makes, which costs more than handling a signal does. Without
 * stacks 1,000 signals take a third less; a run's failures are told by code and path, and never by places in our code.
 * On the first line, so that the source map stays true.
 */
const PRELUDE = 'Error.stackTraceLimit=0;';

/** Of the failure converter of workflows and activities. */
export function failureConverterPath(): string {
  const self = fileURLToPath(import.meta.url);
  return fileURLToPath(new URL(`../workflows/failure-converter${extname(self)}`, import.meta.url));
}

/**
 * Bundles all workflows into one file for the worker's sandbox, with its source map inside. Run from sources it reads
 * workflows/all.ts, compiled it reads workflows/all.js. zod stays outside: nothing that runs in a workflow calls it.
 *
 * No module keeps anything of a run (house.test.ts), so all of them are loaded once for a worker, and frozen. The SDK would
 * load everything anew for each run: that is a third of what a worker spends on a short one.
 */
export async function bundleWorkflows(outFile: string): Promise<void> {
  const self = fileURLToPath(import.meta.url);
  const workflowsPath = fileURLToPath(new URL(`../workflows/all${extname(self)}`, import.meta.url));
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    preloadModules: ['@temporalio/workflow', workflowsPath],
    failureConverterPath: failureConverterPath(),
    ignoreModules: ['zod'],
    logger: new DefaultLogger('WARN'),
  });
  writeFileSync(outFile, `${PRELUDE}${code}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outFile = process.argv[2];
  if (outFile === undefined) throw new Error('Say where the bundle goes: node bundle.js FILE');
  await bundleWorkflows(outFile);
}
