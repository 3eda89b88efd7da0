import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents. mkdir with `recursive` never returns on file systems that accept no folders, such
 * as /proc: it creates the existing parent and tries again.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  let at = folder;
  while (statSync(at, { throwIfNoEntry: false }) === undefined && dirname(at) !== at) {
    missing.unshift(at);
    at = dirname(at);
  }
  if (!statSync(at).isDirectory())
    throw Object.assign(new Error('Not a folder'), { code: at === folder ? 'EEXIST' : 'ENOTDIR' });
  for (const one of missing) {
    try {
      mkdirSync(one, { mode: 0o700 });
    } catch (error) {
      // Another process may have created it.
      if (statSync(one, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    }
  }
}
