/**
 * Where large payloads are stored: a folder (folder-store.ts) or a bucket of S3 (s3-store.ts). Both have the same
 * layout, `{place}/{name}`, so payloads can be copied from one into the other by any tool.
 */

/** The file in each place that names its workflow. */
export const OWNER_FILE = 'owner.json';
const DIGITS = 64;
/** SHA-256 in hex: the form of places, and of names of payloads. */
export const DIGEST = new RegExp(`^[0-9a-f]{${DIGITS}}$`);

export interface BlobName {
  readonly place: string;
  readonly name: string;
}

export interface StoredBlob extends BlobName {
  /** Epoch milliseconds, by the clock of the store. */
  readonly writtenAt: number;
}

/** Every function rejects with BlobStoreError only. */
export interface BlobStore {
  readonly kind: 'folder' | 's3';
  /**
   * Stores the content completely or not at all, also with simultaneous writers of the same content. What is there
   * under the name has the same content, and becomes young again.
   */
  write(blob: BlobName, content: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** The content, whatever it has become: the caller compares it with the hash. */
  read(blob: BlobName, signal?: AbortSignal): Promise<Uint8Array>;
  /** Payloads and owner files; those of a place follow each other. */
  list(): AsyncIterable<StoredBlob>;
  /** Removes it if it was last written before that time. Answers whether it is gone by this call. */
  removeOlder(blob: BlobName, before: number): Promise<boolean>;
}

/**
 * `blob_unavailable`: it is missing, or the store does not answer; `blob_denied`: the store refuses these credentials,
 * or has no such bucket; `blob_damaged`: it was changed since it was stored.
 */
export const BLOB_CODES = ['blob_unavailable', 'blob_denied', 'blob_damaged'] as const;
export type BlobCode = (typeof BLOB_CODES)[number];

/** `reason` is the store's own, such as ENOENT or NoSuchBucket. It names no path and no secret. */
export class BlobStoreError extends Error {
  readonly code: BlobCode;
  readonly reason: string;
  constructor(code: BlobCode, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.code = code;
    this.reason = reason;
  }
}
