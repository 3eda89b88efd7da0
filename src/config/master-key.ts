import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { makeFolder } from './folders.ts';
import { masterKeyText } from './settings.ts';

/**
 * The 32-byte key that encrypts secrets and signs tokens, from the environment or from `<data>/master.key` (0600),
 * which is created if it is missing. Two processes that create it concurrently use the same key.
 * @throws ConfigError if the file cannot be read or created, or its content is invalid
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
      `the file ${path} cannot be read or created (${codeOf(error) ?? error}). Allow this user to read and ` +
        'write it, or set this variable.',
    );
  }
  const key = masterKeyText.safeParse(text.trim());
  if (key.success) return key.data;
  throw new ConfigError(
    'SIGNALBOX_MASTER_KEY',
    `the file ${path} does not contain 32 bytes of base64. Restore it from a backup.`,
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
    // Another process was first, and its key is used.
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
