/**
 * Large payloads outside Temporal: the SDK's external storage (TEMPORAL.md §4) over a store (blob-store.ts). A payload
 * of a run over 256 KB is written there, and history holds a reference. The project's data converter resolves it for
 * every reader. The stored payload is what Temporal would have received: encoded by the codec, scrubbed of secrets.
 *
 * Each workflow id has a place, so that a run's payloads can be removed with the run (blob-sweep.ts). A payload is
 * named by its content, so a repeated write changes nothing. A reference does not name the store: payloads may move.
 */

import { createHash } from 'node:crypto';
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
import { RECORDED_CALL_WORKFLOW, RECORDING_WORKFLOW } from '../../contract/definitions/recording.ts';
import { RUN_WORKFLOW } from '../../contract/run/run.ts';
import { MIN_BLOB_BYTES } from '../../definition/document/limits.ts';
import { BoundedMap } from '../../json/bounded-map.ts';
import { blobFailures } from '../../observe/metrics.ts';
import { BLOB_CODES, type BlobCode, type BlobStore, BlobStoreError, DIGEST, OWNER_FILE } from './blob-store.ts';
import { isMarkedInHistory } from './codec.ts';

/** Workflows whose own payloads are stored. A recording ends, as runs do, and its calls end with their results. */
const BLOB_WORKFLOWS: readonly string[] = [RUN_WORKFLOW, RECORDING_WORKFLOW, RECORDED_CALL_WORKFLOW];

/** In references of every store, since the first was a folder. */
const DRIVER = 'signalbox-folder';
/** Within this time the owner of a place is written once. The sweep removes nothing that is younger. */
const OWNER_TTL_MS = 3_600_000;
const MAX_OWNERS = 1_000;
const DAMAGED: BlobCode = 'blob_damaged';
const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

export interface BlobOwner {
  readonly namespace: string;
  readonly workflowId: string;
}

/** External storage in that store. Where `isOn` is false, stored payloads stay readable and no new ones are stored. */
export function blobStorage(store: BlobStore, isOn: boolean): ExternalStorage {
  const driver = driverOf(store);
  initializeFailureCounters();
  return new ExternalStorage({
    drivers: [driver],
    driverSelector: ({ target }, payload) =>
      isOn && ownerOf(target) !== undefined && !isMarkedInHistory(payload) ? driver : null,
    payloadSizeThreshold: MIN_BLOB_BYTES,
  });
}

/**
 * The workflow in whose place a payload is stored; undefined where the payload stays in history. Only the inputs and
 * results of a run or a recording itself are stored. Other actors stay open for ever, and a payload that another
 * workflow receives (a child's result) must live as long as that workflow. The SDK names the type of the workflow only
 * for its own payloads.
 */
function ownerOf(target: StorageDriverTargetInfo | undefined): BlobOwner | undefined {
  if (target?.kind !== 'workflow' || target.id === undefined) return undefined;
  if (target.type === undefined || !BLOB_WORKFLOWS.includes(target.type)) return undefined;
  return { namespace: target.namespace, workflowId: target.id };
}

function driverOf(store: BlobStore): StorageDriver {
  const owners = new BoundedMap<string, number>(MAX_OWNERS);

  /** Before the payload, so that the sweep never finds one without an owner. */
  async function writeOwner(place: string, owner: BlobOwner, signal: AbortSignal | undefined): Promise<void> {
    const now = Date.now();
    if (now - (owners.get(place) ?? 0) < OWNER_TTL_MS) return;
    await store.write({ place, name: OWNER_FILE }, Buffer.from(JSON.stringify(owner)), signal);
    owners.set(place, now);
  }

  async function storePayload(
    target: StorageDriverTargetInfo | undefined,
    payload: Payload,
    signal: AbortSignal | undefined,
  ): Promise<StorageDriverClaim> {
    const owner = ownerOf(target);
    if (owner === undefined) throw new Error('A payload that belongs to no run was to be stored.');
    const bytes = PayloadMessage.encode(payload).finish();
    const digest = sha256(bytes);
    const place = sha256(JSON.stringify([owner.namespace, owner.workflowId]));
    await writeOwner(place, owner, signal);
    await store.write({ place, name: digest }, bytes, signal);
    return new StorageDriverClaim({ place, digest });
  }

  async function retrievePayload(
    { place = '', digest = '' }: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Payload> {
    // Other clients can write history: a reference must not lead elsewhere.
    if (!DIGEST.test(place) || !DIGEST.test(digest))
      throw new BlobStoreError('blob_unavailable', 'the reference is none of ours');
    const bytes = await store.read({ place, name: digest }, signal);
    if (sha256(bytes) !== digest) throw new BlobStoreError(DAMAGED, 'its content has changed');
    return PayloadMessage.decode(bytes);
  }

  return {
    name: DRIVER,
    type: `signalbox.${store.kind}`,
    store: ({ target, abortSignal }, payloads) =>
      withTypedFailures(store, 'store', () =>
        Promise.all(payloads.map((payload) => storePayload(target, payload, abortSignal))),
      ),
    retrieve: ({ abortSignal }, claims) =>
      withTypedFailures(store, 'retrieve', () =>
        Promise.all(claims.map(({ claimData }) => retrievePayload(claimData, abortSignal))),
      ),
  };
}

/** Whether the error is one of this storage that a later attempt may not meet. */
export const isTransientFailure = (error: unknown): boolean =>
  error instanceof ApplicationFailure && typeof error.type === 'string' && error.type !== DAMAGED;

const OPERATIONS = ['store', 'retrieve'] as const;
type Operation = (typeof OPERATIONS)[number];

/** Creates every series with 0. A series that began with its first failure would show no increase. */
function initializeFailureCounters(): void {
  for (const operation of OPERATIONS) for (const code of BLOB_CODES) blobFailures.inc({ operation, code }, 0);
}

const STORE_NOUNS = { folder: 'folder', s3: 'bucket' } as const;
const TEXTS: { readonly [code in BlobCode]: (kind: BlobStore['kind'], reason: string) => string } = {
  blob_unavailable: (kind, reason) =>
    `A large payload cannot be stored or found in the ${STORE_NOUNS[kind]} for them (${reason}). Gateway and workers ` +
    'must share it: see SIGNALBOX_BLOBS.',
  blob_denied: (kind, reason) =>
    `The ${STORE_NOUNS[kind]} for large payloads refuses access (${reason}). \`signalbox doctor\` says what to set.`,
  blob_damaged: (kind, reason) =>
    `A large payload in the ${STORE_NOUNS[kind]} for them is not what was stored (${reason}). Restore it from a ` +
    'backup.',
};

/** Failures are part of history, so they name no path. A retry does not repair damage. */
async function withTypedFailures<T>({ kind }: BlobStore, operation: Operation, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof BlobStoreError)) throw error;
    blobFailures.inc({ operation, code: error.code });
    const retryable = error.code !== DAMAGED;
    throw ApplicationFailure.create({
      type: error.code,
      message: TEXTS[error.code](kind, error.reason),
      nonRetryable: !retryable,
      details: [{ retryable }],
    });
  }
}

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
