/** `signalbox restore`: puts a backup (backup.ts) into a data folder. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { tryLock } from '#lock';
import type { BlobStore } from '../../client/payloads/blob-store.ts';
import { folderStore } from '../../client/payloads/folder-store.ts';
import { blobStoreOf } from '../../client/payloads/open-blob-store.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { masterKeyText } from '../../config/settings.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { CliError, EXIT } from '../exit.ts';
import { makeDataFolder } from '../start/data-folder.ts';
import { DATABASE_FILE } from '../start/database-processes.ts';
import { demandNoServer, recoverDatabase } from './database.ts';
import {
  BLOB_NAME,
  BLOBS_FOLDER,
  CHECKSUMS_FILE,
  checksumsSchema,
  hashWhileReading,
  KEY_FILE,
  keyIdOf,
  MANIFEST_FILE,
  type Manifest,
  manifestSchema,
  storeError,
} from './manifest.ts';
import { readTar } from './tar.ts';

interface RestoreResult {
  readonly manifest: Manifest;
  readonly dataDir: string;
  /** Where the files that were there before are now. */
  readonly before?: string;
}

/** The server's files; the last two are remains of a server that was killed. */
const REPLACED_FILES = [DATABASE_FILE, KEY_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`];

/**
 * Restores into SIGNALBOX_DATA, on which no stack may run. Nothing there is changed before all of the backup has been
 * read and checked.
 * @throws CliError where the file is no intact backup, the folder is in use or holds a database (without `replaces`),
 * or the key does not fit. DataFolderError.
 */
export async function restore(given: string, env: NodeJS.ProcessEnv, replaces: boolean): Promise<RestoreResult> {
  const config = readConfig(env);
  const { dataDir } = config;
  makeDataFolder(dataDir);
  const { release, holder } = tryLock(join(dataDir, 'start.lock'));
  if (release === undefined)
    throw new CliError(EXIT.input, `A stack runs on ${dataDir} (process ${holder.pid}). Stop it first.`);
  const folder = join(dataDir, `restore-${randomBytes(4).toString('hex')}`);
  try {
    demandNoServer(join(dataDir, DATABASE_FILE));
    const present = REPLACED_FILES.filter((name) => existsSync(join(dataDir, name)));
    if (present.length > 0 && !replaces)
      throw new CliError(EXIT.input, `${dataDir} holds ${present.join(', ')}.`, [
        'Restore into another folder (SIGNALBOX_DATA=…), or with --replace, which keeps the present files beside it.',
      ]);
    await mkdir(folder, { mode: 0o700 });
    const manifest = await unpack(resolve(given), folder);
    demandKey(manifest, folder, config);
    await recoverDatabase(join(folder, DATABASE_FILE));
    // Payloads are named by their content: those that are there stay.
    await copyBlobs(folderStore(join(folder, BLOBS_FOLDER)), blobStoreOf(config.blobs));
    const before = present.length === 0 ? undefined : await moveAside(dataDir, present);
    for (const name of [KEY_FILE, DATABASE_FILE])
      if (existsSync(join(folder, name))) await rename(join(folder, name), join(dataDir, name));
    return { manifest, dataDir, ...omitUndefined({ before }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
    release();
  }
}

/** @throws CliError where the store of these settings does not take them. */
async function copyBlobs(from: BlobStore, to: BlobStore): Promise<void> {
  try {
    for await (const blob of from.list()) await to.write(blob, await from.read(blob));
  } catch (error) {
    throw storeError(error);
  }
}

async function moveAside(dataDir: string, names: readonly string[]): Promise<string> {
  const before = join(dataDir, `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  await mkdir(before, { mode: 0o700 });
  for (const name of names) await rename(join(dataDir, name), join(before, name));
  return before;
}

/** Unpacks into the folder, and checks every file. @throws CliError */
async function unpack(file: string, folder: string): Promise<Manifest> {
  const found: { [name: string]: string } = {};
  try {
    await demandGzip(file);
    const archive = createGunzip();
    createReadStream(file)
      .on('error', (error) => archive.destroy(error))
      .pipe(archive);
    await readTar(archive, async (name, content) => {
      if (![MANIFEST_FILE, CHECKSUMS_FILE, KEY_FILE, DATABASE_FILE].includes(name) && !BLOB_NAME.test(name))
        throw new CliError(EXIT.input, `A backup does not hold ${JSON.stringify(name.slice(0, 200))}.`);
      if (name in found) throw new CliError(EXIT.input, `The backup holds ${name} twice.`);
      const target = join(folder, name);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      const hash = createHash('sha256');
      await pipeline(
        hashWhileReading(hash, content),
        createWriteStream(target, { mode: 0o600, flags: 'wx', flush: true }),
      );
      found[name] = hash.digest('hex');
    });
    const { [CHECKSUMS_FILE]: _own, ...others } = found;
    const stated = checksumsSchema.parse(JSON.parse(await readFile(join(folder, CHECKSUMS_FILE), 'utf8')));
    const wrong = [...new Set([...Object.keys(stated), ...Object.keys(others)])].filter(
      (name) => stated[name] !== others[name],
    );
    if (wrong.length > 0) throw new CliError(EXIT.input, `The backup is damaged at ${wrong.slice(0, 3).join(', ')}.`);
    if (!(DATABASE_FILE in others)) throw new CliError(EXIT.input, 'The backup holds no database.');
    return manifestSchema.parse(JSON.parse(await readFile(join(folder, MANIFEST_FILE), 'utf8')));
  } catch (error) {
    if (error instanceof CliError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(EXIT.input, `${file} is no backup that can be read: ${why}`);
  }
}

/** @throws Error where the file cannot be opened, or is something else. */
async function demandGzip(file: string): Promise<void> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    if (bytesRead !== 2 || buffer[0] !== 0x1f || buffer[1] !== 0x8b) throw new Error('it is not compressed by gzip.');
  } finally {
    await handle.close();
  }
}

/** The start must find the key that the backup needs. @throws CliError */
function demandKey({ masterKey: { id, isIncluded } }: Manifest, folder: string, config: Config): void {
  const file = join(folder, KEY_FILE);
  if (isIncluded) {
    const key = existsSync(file) ? masterKeyText.safeParse(readFileSync(file, 'utf8').trim()) : undefined;
    if (key?.success !== true || keyIdOf(key.data) !== id)
      throw new CliError(EXIT.input, 'The backup is damaged: its key is not the one that it names.');
  }
  const given = [...(config.masterKey === undefined ? [] : [config.masterKey]), ...config.formerMasterKeys];
  if (given.some((key) => keyIdOf(key) === id)) return;
  if (isIncluded && config.masterKey === undefined) return;
  const hint = isIncluded
    ? 'Unset SIGNALBOX_MASTER_KEY, or name the key of the backup in SIGNALBOX_FORMER_MASTER_KEYS.'
    : 'Its key was in SIGNALBOX_MASTER_KEY, and is not in the file. Set this variable to it.';
  throw new CliError(EXIT.input, `The backup was made with another master key (${id}).`, [hint]);
}
