import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { makeFolder } from './folders.ts';
import { masterKeyText } from './settings.ts';

/**
 * The 32-byte key that encrypts secrets and signs tokens: the environment's, else `<data>/master.key` (0600), made
 * when it is missing. Two processes that make it at once end with the same one.
 * @throws ConfigError when the file cannot be read or made, or holds something else.
 */
export function loadMasterKey(config: Pick<Config, 'masterKey' | 'dataDir'>): Uint8Array {
  if (config.masterKey) return config.masterKey;
  const path = join(config.dataDir, 'master.key');
  let text: string;
  try {
    makeFolder(config.dataDir);
    text = readOrMakeKey(path);
  } catch (error) {
    throw new ConfigError(
      'SIGNALBOX_MASTER_KEY',
      `the file ${path} cannot be read or made (${codeOf(error) ?? error}). Let this user read and write it, or give the key by this variable.`,
    );
  }
  const key = masterKeyText.safeParse(text.trim());
  if (key.success) return key.data;
  throw new ConfigError(
    'SIGNALBOX_MASTER_KEY',
    `the file ${path} does not hold 32 bytes of base64. Restore it from a backup.`,
  );
}

function readOrMakeKey(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    // Another process was first: its key is the key.
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
