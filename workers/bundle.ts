import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/**
 * The SDK captures a stack for every promise of a workflow, which costs more than handling a signal. Without stacks
 * 1,000 signals take a third less time. Failures of runs have codes and paths, and need no positions in our code.
 *
 * Its promise hook compiles two functions for every promise, by `promise.constructor.constructor(text)()`: one to find
 * the workflow of the promise, one to make the error with the stack. Here it gets the first without compiling it, so
 * that unhandled rejections still find their workflow, and instead of the error an object without a stack, so that it
 * keeps nothing. A promise then costs 1.3 µs, and 9 µs before; an SDK with other texts would be as slow as before.
 */
export const PRELUDE = [
  'Error.stackTraceLimit=0;',
  '{const activator=()=>globalThis.__TEMPORAL_ACTIVATOR__,Stackless=class{},stackless=()=>Stackless;',
  "Object.defineProperty(Promise,'constructor',{value:(text)=>",
  "text==='return globalThis.__TEMPORAL_ACTIVATOR__'?activator:",
  "text==='return globalThis.Error'?stackless:Function(text)});}",
].join('');

/**
 * A source map without positions. The SDK demands one, and nothing reads positions where there are no stacks: a whole
 * map is two thirds of the bundle, and each worker parses it at its start.
 */
const EMPTY_SOURCE_MAP = { version: 3, sources: [], names: [], mappings: '' };
/** In parts, since tools would take the whole for that of this file. */
const SOURCE_MAP_COMMENT = ['//# source', 'MappingURL=data:application/json;base64,'].join('');

/** The path of the failure converter of workflows and activities. */
export function failureConverterPath(): string {
  const self = fileURLToPath(import.meta.url);
  return fileURLToPath(new URL(`../workflows/failure-converter${extname(self)}`, import.meta.url));
}

/**
 * Bundles all workflows into one file for the worker's sandbox. From sources it reads workflows/all.ts, compiled
 * workflows/all.js. zod is excluded, because no workflow calls it.
 *
 * No module stores state of a run (house.test.ts), so all modules are loaded once per worker and frozen. Otherwise the
 * SDK would load them for each run, which is a third of the work for a short one.
 */
export async function bundleWorkflows(outFile: string, workflowsPath = allWorkflowsPath()): Promise<void> {
  const self = fileURLToPath(import.meta.url);
  const interceptorsPath = fileURLToPath(new URL(`../workflows/interceptors${extname(self)}`, import.meta.url));
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [interceptorsPath],
    preloadModules: ['@temporalio/workflow', workflowsPath, interceptorsPath],
    failureConverterPath: failureConverterPath(),
    ignoreModules: ['zod'],
    webpackConfigHook: (config) => ({ ...config, devtool: false }),
    logger: new DefaultLogger('WARN'),
  });
  const map = Buffer.from(JSON.stringify(EMPTY_SOURCE_MAP)).toString('base64');
  writeFileSync(outFile, `${PRELUDE}${code}\n${SOURCE_MAP_COMMENT}${map}\n`);
}

function allWorkflowsPath(): string {
  const self = fileURLToPath(import.meta.url);
  return fileURLToPath(new URL(`../workflows/all${extname(self)}`, import.meta.url));
}

/** The SHA-256 of a bundle, hexadecimal. */
export function hashOfBundle(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outFile = process.argv[2];
  if (outFile === undefined) throw new Error('Usage: node bundle.js FILE');
  await bundleWorkflows(outFile);
}
