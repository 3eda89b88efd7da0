/** The ports of the Temporal server, kept in the data folder from one start to the next: bookmarks and clients stay right. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const port = z.number().int().min(1).max(65_535).optional();
const NOTE = z.object({ temporal: port, ui: port });
export type SavedPorts = z.infer<typeof NOTE>;

const fileIn = (dataDir: string): string => join(dataDir, 'ports.json');

/** Nothing where nothing was kept, or it cannot be read: the usual ports do then. */
export function readPorts(dataDir: string): SavedPorts {
  try {
    return NOTE.parse(JSON.parse(readFileSync(fileIn(dataDir), 'utf8')));
  } catch {
    return {};
  }
}

/** @throws what writing throws. */
export function savePorts(dataDir: string, ports: SavedPorts): void {
  const draft = `${fileIn(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ ...readPorts(dataDir), ...ports })}\n`, { mode: 0o600 });
  renameSync(draft, fileIn(dataDir));
}
