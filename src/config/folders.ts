import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * As mkdir with `recursive`, which tries for ever where a file system such as /proc takes no folders: it makes the parent,
 * which is there, and tries again.
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
      // Another process was first.
      if (statSync(one, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    }
  }
}
