/** Finds Deno and Pyodide: optional packages, because they are large and Deno has no build for some machines. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ActivityError } from '../runtime/failure.ts';

export interface PythonInstallation {
  /** The executable. */
  readonly deno: string;
  /** The package's folder. */
  readonly pyodide: string;
}

/** Resolves the packages as Node does from that file. @throws ActivityError `python_unavailable` */
export function findPython(from: string | URL): PythonInstallation {
  const { resolve } = createRequire(from);
  const { platform, arch } = process;
  const name = `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`;
  try {
    const deno = join(dirname(resolve(`${name}/package.json`)), platform === 'win32' ? 'deno.exe' : 'deno');
    if (existsSync(deno)) return { deno, pyodide: dirname(resolve('pyodide')) };
  } catch {
    // Reported below.
  }
  throw new ActivityError(
    'python_unavailable',
    `Python steps need the npm packages ${name} and pyodide, which this worker does not have. Run npm install ` +
      '--include=optional if they exist for this machine.',
  );
}
