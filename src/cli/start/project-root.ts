import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json, both from sources and from dist/. */
export function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('No package.json was found in the parents of this program.');
    folder = parent;
  }
  return folder;
}

/** The folder of the compiled program, which child processes run. */
export function compiledRoot(): string {
  return join(projectRoot(), 'dist');
}
