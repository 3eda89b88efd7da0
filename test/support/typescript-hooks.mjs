// Reads the project's TypeScript where Node itself loads it: in threads that tests start, which Vitest does not see.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

let strip;

export async function load(url, context, next) {
  if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context);
  strip ??= (await import('@swc/wasm-typescript')).transform;
  const source = await readFile(fileURLToPath(url), 'utf8');
  const { code } = await strip(source, { mode: 'strip-only', module: true });
  return { format: 'module', source: code, shortCircuit: true };
}
