import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json, from sources and from dist/ alike. */
export function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('The folder of package.json was not found above this program.');
    folder = parent;
  }
  return folder;
}

/** The folder of the compiled program: only there are files that a child process can run. */
export function compiledRoot(): string {
  return join(projectRoot(), 'dist');
}
