/**
 * The payload codec. With SIGNALBOX_CODEC=1 Temporal stores the inputs, states and results of runs and actors as
 * AES-256-GCM ciphertext. Earlier plain payloads and ciphertext under former master keys stay readable, so the codec
 * can be switched on and off, and keys can change. Ids, search attributes, types of failures and headers (contexts of
 * traces) are not encrypted, because Temporal works with them.
 */
import { createHash } from 'node:crypto';
import { type Payload, type PayloadCodec, ValueError } from '@temporalio/common';
// The package is CommonJS without named exports: its values come by the default, its types by name.
import proto from '@temporalio/proto';
import type { Config } from '../../config/config.ts';
import { loadMasterKey } from '../../config/master-key.ts';
import { isReferencePayload } from '../../temporal-internals/sdk.ts';
import { ClientError } from '../errors.ts';
import { deriveKeys } from './keys.ts';
import { decryptBytes, encryptBytes } from './seal.ts';

const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const ID_DIGITS = 16;
/**
 * Payloads that the codec leaves as they are: encrypted ones, and nulls, which reveal nothing and remove fields of
 * memos. References to stored payloads are not encrypted either: external storage has to find them.
 */
const UNENCRYPTED_ENCODINGS: ReadonlySet<string | undefined> = new Set([ENCODING, 'binary/null']);
/** Marks payloads that stay in history, whatever their size. It is not encrypted, since external storage reads it. */
const IN_HISTORY_KEY = 'signalbox-in-history';
const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

export type CodecSettings = Pick<Config, 'codec' | 'masterKey' | 'formerMasterKeys' | 'dataDir'>;

/** The codec of these settings. The master key is read when it is first needed. */
export function payloadCodecOf(settings: CodecSettings): PayloadCodec {
  let cachedKeys: ReadonlyMap<string, Uint8Array> | undefined;
  /** By id, the current one first. */
  const keys = () => {
    cachedKeys ??= new Map(
      [loadMasterKey(settings), ...settings.formerMasterKeys].map((master) => {
        const key = deriveKeys(master).payloads;
        return [keyIdOf(key), key];
      }),
    );
    return cachedKeys;
  };
  return {
    encode: async (payloads) => {
      if (!settings.codec) return payloads;
      const [currentKey] = keys();
      return currentKey === undefined ? payloads : payloads.map((payload) => encryptPayload(...currentKey, payload));
    },
    decode: async (payloads) =>
      payloads.map((payload) => (isEncrypted(payload) ? decryptPayload(keys(), payload) : payload)),
  };
}

/** Whether the codec wrote the payload. */
export const isEncrypted = (payload: Payload): boolean => textOf(payload, 'encoding') === ENCODING;

/** The payload with the mark that keeps it out of external storage. */
export const markInHistory = (payload: Payload): Payload => ({
  ...payload,
  metadata: { ...payload.metadata, [IN_HISTORY_KEY]: Buffer.from('1') },
});

export const isMarkedInHistory = (payload: Payload): boolean => payload.metadata?.[IN_HISTORY_KEY] != null;

/** A payload that was encrypted under an unknown key, or was changed since. */
export class UnreadablePayload extends ValueError {}

/** Identifies a key without revealing it. */
const keyIdOf = (key: Uint8Array): string => createHash('sha256').update(key).digest('hex').slice(0, ID_DIGITS);

function encryptPayload(id: string, key: Uint8Array, payload: Payload): Payload {
  if (UNENCRYPTED_ENCODINGS.has(textOf(payload, 'encoding')) || isReferencePayload(payload)) return payload;
  return {
    metadata: {
      encoding: Buffer.from(ENCODING),
      [KEY_ID]: Buffer.from(id),
      ...(isMarkedInHistory(payload) ? { [IN_HISTORY_KEY]: Buffer.from('1') } : {}),
    },
    data: encryptBytes(key, id, PayloadMessage.encode(payload).finish()),
  };
}

/** @throws UnreadablePayload. */
function decryptPayload(keys: ReadonlyMap<string, Uint8Array>, payload: Payload): Payload {
  const id = textOf(payload, KEY_ID) ?? '';
  const key = keys.get(id);
  if (key === undefined)
    throw new UnreadablePayload(
      `A payload was encrypted under another master key (${id}). Name that key in SIGNALBOX_FORMER_MASTER_KEYS.`,
    );
  const clear = decryptBytes(key, id, payload.data ?? new Uint8Array());
  if (clear === undefined) throw new UnreadablePayload('A payload was changed since it was encrypted.');
  return PayloadMessage.decode(clear);
}

function textOf({ metadata }: Payload, name: string): string | undefined {
  const bytes = metadata?.[name];
  return bytes == null ? undefined : Buffer.from(bytes).toString();
}

/** A payload in Temporal's JSON, as codec servers receive it: bytes are base64. */
interface JsonPayload {
  readonly metadata?: { readonly [name: string]: string } | undefined;
  readonly data?: string | undefined;
}

/** Encodes or decodes as a codec server. @throws ClientError `codec_failed` where a payload cannot be decoded. */
export async function transcode(
  codec: PayloadCodec,
  direction: 'encode' | 'decode',
  payloads: readonly JsonPayload[],
): Promise<JsonPayload[]> {
  const given = payloads.map(({ metadata = {}, data = '' }) => ({
    metadata: mapped(metadata, (text) => Buffer.from(text, 'base64')),
    data: Buffer.from(data, 'base64'),
  }));
  const made = await codec[direction](given).catch((error: unknown) => {
    if (error instanceof UnreadablePayload) throw new ClientError('codec_failed', error.message);
    throw error;
  });
  return made.map(({ metadata, data }) => ({
    metadata: mapped(metadata ?? {}, (bytes) => Buffer.from(bytes).toString('base64')),
    data: Buffer.from(data ?? []).toString('base64'),
  }));
}

const mapped = <From, To>(members: { readonly [name: string]: From }, made: (value: From) => To) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, made(value)]));
