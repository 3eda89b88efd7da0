/**
 * Large payloads outside Temporal: the SDK's external storage (TEMPORAL.md §4) over a folder. A payload of a run over
 * 256 KB is written here, and history holds a reference. The project's data converter resolves it for every reader. The
 * stored payload is what Temporal would have received: encoded by the codec, scrubbed of secrets.
 *
 * Each workflow id has a folder, so that a run's payloads can be removed with the run (blob-sweep.ts). A file is named
 * by its content, so a repeated write changes nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ApplicationFailure,
  ExternalStorage,
  type Payload,
  type StorageDriver,
  StorageDriverClaim,
  type StorageDriverTargetInfo,
} from '@temporalio/common';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto from '@temporalio/proto';
import { RUN_WORKFLOW } from '../../contract/run.ts';
import { BLOB_BYTES } from '../../definition/document/limits.ts';

/**
 * The type of the failure when a payload cannot be stored or found. The cause may be temporary, so the caller may
 * retry.
 */
export const BLOB_UNAVAILABLE = 'blob_unavailable';
/** The file in each folder that names its workflow. */
export const OWNER_FILE = 'owner.json';

const DRIVER = 'signalbox-folder';
const DIGITS = 64;
const DIGEST = new RegExp(`^[0-9a-f]{${DIGITS}}$`);
const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

export interface BlobOwner {
  readonly namespace: string;
  readonly workflowId: string;
}

/** External storage in the folder. Where `isOn` is false, stored payloads stay readable and no new ones are stored. */
export function blobStorage(root: string, isOn: boolean): ExternalStorage {
  const driver = folderDriver(root);
  return new ExternalStorage({
    drivers: [driver],
    driverSelector: ({ target }) => (isOn && ownerOf(target) !== undefined ? driver : null),
    payloadSizeThreshold: BLOB_BYTES,
  });
}

/**
 * The workflow whose folder stores a payload; undefined where the payload stays in history. Only the inputs and results
 * of a run itself are stored. An actor stays open for ever, and a payload that another workflow receives (a child's
 * result) must live as long as that workflow. The SDK names the type of the workflow only for a run's own payloads.
 */
function ownerOf(target: StorageDriverTargetInfo | undefined): BlobOwner | undefined {
  if (target?.kind !== 'workflow' || target.type !== RUN_WORKFLOW || target.id === undefined) return undefined;
  return { namespace: target.namespace, workflowId: target.id };
}

function folderDriver(root: string): StorageDriver {
  return {
    name: DRIVER,
    type: 'signalbox.folder',
    store: ({ target }, payloads) => typed(() => Promise.all(payloads.map((payload) => store(root, target, payload)))),
    retrieve: (_context, claims) => typed(() => Promise.all(claims.map(({ claimData }) => retrieve(root, claimData)))),
  };
}

async function store(
  root: string,
  target: StorageDriverTargetInfo | undefined,
  payload: Payload,
): Promise<StorageDriverClaim> {
  const owner = ownerOf(target);
  if (owner === undefined) throw new Error('no run is named');
  const bytes = PayloadMessage.encode(payload).finish();
  const digest = sha256(bytes);
  const place = sha256(JSON.stringify([owner.namespace, owner.workflowId]));
  const folder = join(root, place);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replace(join(folder, OWNER_FILE), JSON.stringify(owner));
  await replace(join(folder, digest), bytes);
  return new StorageDriverClaim({ place, digest });
}

/**
 * Writes the file completely or not at all, also with simultaneous writers. An existing file keeps its content and gets
 * a new modification time.
 */
async function replace(path: string, content: string | Uint8Array): Promise<void> {
  const now = new Date();
  try {
    await utimes(path, now, now);
  } catch {
    const draft = `${path}.${randomBytes(6).toString('hex')}`;
    try {
      await writeFile(draft, content, { mode: 0o600, flush: true });
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  }
}

async function retrieve(root: string, { place, digest }: Readonly<Record<string, string>>): Promise<Payload> {
  // Other clients can write history: a reference must not lead out of the folder.
  if (!DIGEST.test(place ?? '') || !DIGEST.test(digest ?? '')) throw new Error('the reference is none of ours');
  const bytes = await readFile(join(root, place!, digest!));
  if (sha256(bytes) !== digest) throw new Error('its content has changed');
  return PayloadMessage.decode(bytes);
}

/** Failures are part of history, so they name no path. */
async function typed<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    const why = code ?? (error instanceof Error ? error.message : 'unknown');
    throw ApplicationFailure.create({
      type: BLOB_UNAVAILABLE,
      message:
        `A large payload cannot be kept or found in the folder for them (${why}). Gateway and workers ` +
        'must share it: see SIGNALBOX_BLOBS.',
      details: [{ retryable: true }],
    });
  }
}

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
