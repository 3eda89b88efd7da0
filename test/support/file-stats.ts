import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Size and time of change of each file below a folder, by path. */
export function filesOf(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const { size, mtimeMs } = statSync(path);
    found.set(path.slice(folder.length), `${size} ${mtimeMs}`);
  }
  return found;
}
