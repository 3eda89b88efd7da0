/** The file in the data folder with the Temporal server's ports, so that they are the same after a restart. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const port = z.number().int().min(1).max(65_535).optional();
const portsSchema = z.object({ temporal: port, ui: port });
export type SavedPorts = z.infer<typeof portsSchema>;

const fileIn = (dataDir: string): string => join(dataDir, 'ports.json');

/** Empty if the file is missing or unreadable; the default ports are used then. */
export function readPorts(dataDir: string): SavedPorts {
  try {
    return portsSchema.parse(JSON.parse(readFileSync(fileIn(dataDir), 'utf8')));
  } catch {
    return {};
  }
}

/** @throws errors of the file system */
export function savePorts(dataDir: string, ports: SavedPorts): void {
  const draft = `${fileIn(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ ...readPorts(dataDir), ...ports })}\n`, { mode: 0o600 });
  renameSync(draft, fileIn(dataDir));
}
