/** Where Deno and Pyodide are: optional packages, since they are large, and Deno has no build for some machines. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ActivityError } from '../runtime/failure.ts';

export interface PythonInstallation {
  /** The program. */
  readonly deno: string;
  /** The folder of the package. */
  readonly pyodide: string;
}

/** As Node finds them from that file. @throws ActivityError `python_unavailable` */
export function findPython(from: string | URL): PythonInstallation {
  const { resolve } = createRequire(from);
  const { platform, arch } = process;
  const name = `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`;
  try {
    const deno = join(dirname(resolve(`${name}/package.json`)), platform === 'win32' ? 'deno.exe' : 'deno');
    if (existsSync(deno)) return { deno, pyodide: dirname(resolve('pyodide')) };
  } catch {
    // Told below.
  }
  throw new ActivityError(
    'python_unavailable',
    `Python steps need the npm packages ${name} and pyodide, which this worker does not have. Where they exist for this machine, npm install --include=optional brings them.`,
  );
}
