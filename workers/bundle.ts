import { writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/**
 * Bundles all workflows into one file for the worker's sandbox, with its source map inside. Run from sources it reads
 * workflows/all.ts, compiled it reads workflows/all.js. zod stays outside: nothing that runs in a workflow calls it.
 */
export async function bundleWorkflows(outFile: string): Promise<void> {
  const self = fileURLToPath(import.meta.url);
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL(`../workflows/all${extname(self)}`, import.meta.url)),
    ignoreModules: ['zod'],
    logger: new DefaultLogger('WARN'),
  });
  writeFileSync(outFile, code);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outFile = process.argv[2];
  if (outFile === undefined) throw new Error('Say where the bundle goes: node bundle.js FILE');
  await bundleWorkflows(outFile);
}
