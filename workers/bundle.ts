import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';
import type { Config } from '../src/config/config.ts';
import { PRELUDE, withoutPromiseHook } from '../src/temporal-internals/promise-prelude.ts';

/**
 * A source map without positions. The SDK demands one, and nothing reads positions where there are no stacks: a whole
 * map is two thirds of the bundle, and each worker parses it at its start. Its `file` names a bundle that is given as
 * text.
 */
const EMPTY_SOURCE_MAP = { version: 3, file: 'workflow-bundle.js', sources: [], names: [], mappings: '' };
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

/** A bundle for Worker.create. Without patches of the SDK it leaves the SDK's promise hook as it is. */
export const workflowBundle = (file: string, { sdkPatches }: Pick<Config, 'sdkPatches'>): WorkflowBundleOption =>
  sdkPatches ? { codePath: file } : { code: withoutPromiseHook(readFileSync(file, 'utf8')) };

/** The SHA-256 of a bundle, hexadecimal. */
export function hashOfBundle(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outFile = process.argv[2];
  if (outFile === undefined) throw new Error('Usage: node bundle.js FILE');
  await bundleWorkflows(outFile);
}
