/** What a backup says of itself, and the names of its files. */
import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import { BlobStoreError } from '../../client/payloads/blob-store.ts';
import { CliError, EXIT } from '../exit.ts';

export const MANIFEST_FILE = 'manifest.json';
/** The last file: name → SHA-256 of every other one. */
export const CHECKSUMS_FILE = 'checksums.json';
export const KEY_FILE = 'master.key';
export const BLOBS_FOLDER = 'blobs';
/** Names of blobs, in the form that src/client/payloads gives them. */
export const BLOB_NAME = /^blobs\/[0-9a-f]{64}\/(?:[0-9a-f]{64}|owner\.json)$/;

export const manifestSchema = z.object({
  format: z.literal(1),
  createdAt: z.iso.datetime(),
  /** Of Signalbox. */
  version: z.string(),
  namespace: z.string(),
  masterKey: z.object({
    /** Identifies the key without revealing it. */
    id: z.string(),
    /** False: it came from the environment. */
    isIncluded: z.boolean(),
  }),
});
export type Manifest = z.output<typeof manifestSchema>;

export const checksumsSchema = z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/));

export const keyIdOf = (key: Uint8Array): string =>
  createHash('sha256').update('signalbox backup').update(key).digest('hex').slice(0, 16);

/** The pieces as they are. Each is added to the hash when it is read. */
export async function* hashWhileReading(
  hash: Hash,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
}

/** A failure of the store of large payloads, as the command says it; other errors as they are. */
export const storeError = (error: unknown): unknown =>
  error instanceof BlobStoreError
    ? new CliError(EXIT.input, `The store of large payloads cannot be used: ${error.reason}.`, ['npx signalbox doctor'])
    : error;
