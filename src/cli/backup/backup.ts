/** `signalbox backup`: what the stack on a data folder holds, as of one moment, in one file. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isAlive, tryLock } from '#lock';
import { runningStack, type StackNote } from '#stacks';
import { type BlobName, type BlobStore, BlobStoreError } from '../../client/payloads/blob-store.ts';
import { blobStoreOf } from '../../client/payloads/open-blob-store.ts';
import { readConfig } from '../../config/config.ts';
import { loadMasterKey } from '../../config/master-key.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { programVersion } from '../../observe/version.ts';
import { CliError, EXIT } from '../exit.ts';
import { DATABASE_FILE } from '../start/database-processes.ts';
import { copyDatabase, demandNoServer, recoverDatabase } from './database.ts';
import {
  BLOBS_FOLDER,
  CHECKSUMS_FILE,
  hashWhileReading,
  KEY_FILE,
  keyIdOf,
  MANIFEST_FILE,
  type Manifest,
  storeError,
} from './manifest.ts';
import { withProcessPaused } from './pause-process.ts';
import { type AddFile, writeTar } from './tar.ts';

interface BackupResult {
  readonly file: string;
  readonly manifest: Manifest;
  /** Bytes. */
  readonly bytes: { readonly file: number; readonly database: number; readonly blobs: number };
  readonly blobs: number;
  /** For how many milliseconds the Temporal server stood still; absent if none ran. */
  readonly stoppedMs?: number;
}

/** Fast, and still a fifth of the size. */
const COMPRESSION = 1;
const EXTERNAL_SERVER_HINT =
  'This command is for stacks that run their own Temporal server. The manual says how to back up others (Operating).';

/**
 * Backs up the stack on SIGNALBOX_DATA, also while it runs.
 * @throws CliError where there is nothing to back up, the file exists, a server of no stack uses the database, or it is
 * damaged.
 */
export async function backup(given: string, env: NodeJS.ProcessEnv, replaces: boolean): Promise<BackupResult> {
  const file = resolve(given);
  const config = readConfig(env);
  const { dataDir } = config;
  const stack = runningStack(dataDir);
  if (stack !== undefined && stack.temporal.server === undefined)
    throw new CliError(EXIT.input, `The stack on ${dataDir} uses the Temporal server at ${stack.temporal.address}.`, [
      EXTERNAL_SERVER_HINT,
    ]);
  const database = join(dataDir, DATABASE_FILE);
  if (!existsSync(database))
    throw new CliError(EXIT.input, `There is no database in ${dataDir}.`, [EXTERNAL_SERVER_HINT]);
  if (!replaces && existsSync(file))
    throw new CliError(EXIT.input, `${file} exists. Choose another name, or --replace.`);
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString('hex')}`);
  const folder = join(dataDir, `backup-${randomBytes(4).toString('hex')}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const copy = join(folder, DATABASE_FILE);
    const stoppedMs = await copyWhileStopped(dataDir, database, stack, () => copyDatabase(database, copy));
    await recoverDatabase(copy);
    const keyFile = join(dataDir, KEY_FILE);
    const isIncluded = config.masterKey === undefined;
    const manifest: Manifest = {
      format: 1,
      createdAt: new Date().toISOString(),
      version: programVersion(),
      namespace: config.temporal.namespace,
      masterKey: { id: keyIdOf(loadMasterKey(config)), isIncluded },
    };
    const counts = { blobs: 0, bytes: 0 };
    const archive = writeTar((add) =>
      fillArchive(add, manifest, copy, isIncluded ? keyFile : undefined, blobStoreOf(config.blobs), counts),
    );
    const out = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true });
    await pipeline(archive, createGzip({ level: COMPRESSION }), out);
    await rename(draft, file);
    const bytes = { file: (await stat(file)).size, database: (await stat(copy)).size, blobs: counts.bytes };
    return { file, manifest, bytes, blobs: counts.blobs, ...omitUndefined({ stoppedMs }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(draft, { force: true });
  }
}

/** Copies while no server writes. Answers for how long a running one stood still. */
async function copyWhileStopped(
  dataDir: string,
  database: string,
  stack: StackNote | undefined,
  copy: () => Promise<void>,
): Promise<number | undefined> {
  const server = stack?.temporal.server;
  if (server !== undefined) {
    if (process.platform === 'win32')
      throw new CliError(
        EXIT.input,
        'On Windows a running server cannot be stopped for a moment. Stop the stack first.',
      );
    if (!isAlive(server))
      throw new CliError(EXIT.input, 'The Temporal server of the stack restarts at the moment. Try again.');
    demandNoServer(database, server.pid);
    return (await withProcessPaused(server.pid, copy)).stoppedMs;
  }
  const { release } = tryLock(join(dataDir, 'start.lock'));
  if (release === undefined) throw new CliError(EXIT.input, `A stack starts on ${dataDir} at the moment. Try again.`);
  try {
    demandNoServer(database);
    await copy();
  } finally {
    release();
  }
  return undefined;
}

/**
 * Fills the archive. Payloads are read after the database: they are written before history refers to them, and never
 * changed.
 */
async function fillArchive(
  add: AddFile,
  manifest: Manifest,
  database: string,
  keyFile: string | undefined,
  blobs: BlobStore,
  counts: { blobs: number; bytes: number },
): Promise<void> {
  const checksums: { [name: string]: string } = {};
  const addHashed = async (name: string, size: number, content: Iterable<Buffer> | AsyncIterable<Buffer>) => {
    const hash = createHash('sha256');
    await add(name, size, hashWhileReading(hash, content));
    checksums[name] = hash.digest('hex');
  };
  const addSmall = (name: string, content: Buffer) => addHashed(name, content.length, [content]);
  await addSmall(MANIFEST_FILE, Buffer.from(JSON.stringify(manifest, null, 2)));
  if (keyFile !== undefined) await addSmall(KEY_FILE, await readFile(keyFile));
  await addHashed(DATABASE_FILE, (await stat(database)).size, createReadStream(database));
  try {
    for await (const blob of blobs.list()) {
      const content = await contentOf(blobs, blob);
      if (content === undefined) continue;
      counts.blobs += 1;
      counts.bytes += content.length;
      await addSmall(`${BLOBS_FOLDER}/${blob.place}/${blob.name}`, content);
    }
  } catch (error) {
    throw storeError(error);
  }
  await addSmall(CHECKSUMS_FILE, Buffer.from(JSON.stringify(checksums)));
}

/** Undefined where the sweep has removed it since it was listed: its run no longer exists. @throws BlobStoreError */
async function contentOf(blobs: BlobStore, blob: BlobName): Promise<Buffer | undefined> {
  try {
    return Buffer.from(await blobs.read(blob));
  } catch (error) {
    if (error instanceof BlobStoreError && ['ENOENT', 'NoSuchKey'].includes(error.reason)) return undefined;
    throw error;
  }
}
