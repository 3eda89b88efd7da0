/** `signalbox backup`: what the stack on a data folder holds, as of one moment, in one file. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isAlive, tryLock } from '#lock';
import { runningStack, type StackNote } from '#stacks';
import { BlobFault, type BlobName, type BlobStore } from '../../client/payloads/blob-store.ts';
import { blobStoreOf } from '../../client/payloads/store-of.ts';
import { readConfig } from '../../config/config.ts';
import { loadMasterKey } from '../../config/master-key.ts';
import { defined } from '../../json/defined.ts';
import { programVersion } from '../../observe/version.ts';
import { CliError, EXIT } from '../exit.ts';
import { DATABASE } from '../start/database-users.ts';
import { copyDatabase, demandNoServer, settleDatabase } from './database.ts';
import { BLOBS, CHECKSUMS, hashing, KEY, keyIdOf, MANIFEST, type Manifest, storeError } from './manifest.ts';
import { type AddFile, writeTar } from './tar.ts';
import { whileStopped } from './while-stopped.ts';

interface BackupDone {
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
const ELSEWHERE =
  'This command is for stacks that run their own Temporal server. The manual says how to back up others (Operating).';

/**
 * Backs up the stack on SIGNALBOX_DATA, also while it runs.
 * @throws CliError where there is nothing to back up, the file exists, a server of no stack uses the database, or it is
 * damaged.
 */
export async function backup(given: string, env: NodeJS.ProcessEnv, replaces: boolean): Promise<BackupDone> {
  const file = resolve(given);
  const config = readConfig(env);
  const { dataDir } = config;
  const stack = runningStack(dataDir);
  if (stack !== undefined && stack.temporal.server === undefined)
    throw new CliError(EXIT.input, `The stack on ${dataDir} uses the Temporal server at ${stack.temporal.address}.`, [
      ELSEWHERE,
    ]);
  const database = join(dataDir, DATABASE);
  if (!existsSync(database)) throw new CliError(EXIT.input, `There is no database in ${dataDir}.`, [ELSEWHERE]);
  if (!replaces && existsSync(file))
    throw new CliError(EXIT.input, `${file} exists. Choose another name, or --replace.`);
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString('hex')}`);
  const folder = join(dataDir, `backup-${randomBytes(4).toString('hex')}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const copy = join(folder, DATABASE);
    const stoppedMs = await copyAtRest(dataDir, database, stack, () => copyDatabase(database, copy));
    await settleDatabase(copy);
    const keyFile = join(dataDir, KEY);
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
      fill(add, manifest, copy, isIncluded ? keyFile : undefined, blobStoreOf(config.blobs), counts),
    );
    const out = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true });
    await pipeline(archive, createGzip({ level: COMPRESSION }), out);
    await rename(draft, file);
    const bytes = { file: (await stat(file)).size, database: (await stat(copy)).size, blobs: counts.bytes };
    return { file, manifest, bytes, blobs: counts.blobs, ...defined({ stoppedMs }) };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(draft, { force: true });
  }
}

/** Copies while no server writes. Answers for how long a running one stood still. */
async function copyAtRest(
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
    return (await whileStopped(server.pid, copy)).stoppedMs;
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
async function fill(
  add: AddFile,
  manifest: Manifest,
  database: string,
  keyFile: string | undefined,
  blobs: BlobStore,
  counts: { blobs: number; bytes: number },
): Promise<void> {
  const checksums: { [name: string]: string } = {};
  const hashed = async (name: string, size: number, content: Iterable<Buffer> | AsyncIterable<Buffer>) => {
    const hash = createHash('sha256');
    await add(name, size, hashing(hash, content));
    checksums[name] = hash.digest('hex');
  };
  const small = (name: string, content: Buffer) => hashed(name, content.length, [content]);
  await small(MANIFEST, Buffer.from(JSON.stringify(manifest, null, 2)));
  if (keyFile !== undefined) await small(KEY, await readFile(keyFile));
  await hashed(DATABASE, (await stat(database)).size, createReadStream(database));
  try {
    for await (const blob of blobs.list()) {
      const content = await contentOf(blobs, blob);
      if (content === undefined) continue;
      counts.blobs += 1;
      counts.bytes += content.length;
      await small(`${BLOBS}/${blob.place}/${blob.name}`, content);
    }
  } catch (error) {
    throw storeError(error);
  }
  await small(CHECKSUMS, Buffer.from(JSON.stringify(checksums)));
}

/** Undefined where the sweep has removed it since it was listed: its run is gone. @throws BlobFault */
async function contentOf(blobs: BlobStore, blob: BlobName): Promise<Buffer | undefined> {
  try {
    return Buffer.from(await blobs.read(blob));
  } catch (error) {
    if (error instanceof BlobFault && ['ENOENT', 'NoSuchKey'].includes(error.why)) return undefined;
    throw error;
  }
}
