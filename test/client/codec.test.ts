import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, StorageDriverClaim } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import {
  type CodecSettings,
  isMarkedInHistory,
  markInHistory,
  payloadCodecOf,
  UnreadablePayload,
} from '../../src/client/payloads/codec.ts';
import { toClientError } from '../../src/client/temporal/rpc.ts';
import { encodeReferencePayload } from '../support/sdk.ts';

const settings = (more: Partial<CodecSettings> = {}): CodecSettings => ({
  codec: true,
  masterKey: new Uint8Array(randomBytes(32)),
  formerMasterKeys: [],
  dataDir: '/nowhere',
  ...more,
});
const payload = defaultPayloadConverter.toPayload({ note: 'canary' });
const read = (given: Parameters<typeof defaultPayloadConverter.fromPayload>[0] | undefined) =>
  defaultPayloadConverter.fromPayload(given ?? {});

describe('the payload codec', () => {
  it('hides what a payload holds and what it is, and gives it back', async () => {
    const codec = payloadCodecOf(settings());
    const [first, second] = await codec.encode([payload, payload]);
    for (const one of [first, second]) expect(Buffer.from(one?.data ?? []).includes('canary')).toBe(false);
    expect(Buffer.from(first?.data ?? [])).not.toEqual(Buffer.from(second?.data ?? []));
    const [clear] = await codec.decode([first ?? {}]);
    expect(read(clear)).toEqual({ note: 'canary' });
  });

  it('reads what is plain, and encodes nothing twice', async () => {
    const codec = payloadCodecOf(settings());
    expect(read((await codec.decode([payload]))[0])).toEqual({ note: 'canary' });
    const once = await codec.encode([payload]);
    expect(await codec.encode(once)).toEqual(once);
  });

  it('reads what it has encoded while it was on, and what a former key has encoded', async () => {
    const before = settings();
    const encoded = await payloadCodecOf(before).encode([payload]);
    const off = payloadCodecOf({ ...before, codec: false });
    expect(await off.encode([payload])).toEqual([payload]);
    expect(read((await off.decode(encoded))[0])).toEqual({ note: 'canary' });
    const rotated = payloadCodecOf(settings({ formerMasterKeys: [before.masterKey ?? new Uint8Array()] }));
    expect(read((await rotated.decode(encoded))[0])).toEqual({ note: 'canary' });
  });

  it('leaves references to stored payloads, and keeps the mark of payloads that are not stored', async () => {
    const codec = payloadCodecOf(settings());
    const reference = encodeReferencePayload({
      driverName: 'signalbox-folder',
      claim: new StorageDriverClaim({ place: 'a', digest: 'b' }),
      sizeBytes: 300_000,
    });
    expect(await codec.encode([reference])).toEqual([reference]);
    const [marked, other] = await codec.encode([markInHistory(payload), payload]);
    expect([marked, other].map((one) => isMarkedInHistory(one ?? {}))).toEqual([true, false]);
    expect(Buffer.from(marked?.data ?? []).includes('canary')).toBe(false);
    expect(read((await codec.decode([marked ?? {}]))[0])).toEqual({ note: 'canary' });
  });

  it('says so where the key is not known, or the payload was changed', async () => {
    const codec = payloadCodecOf(settings());
    const [encoded] = await codec.encode([payload]);
    await expect(payloadCodecOf(settings()).decode([encoded ?? {}])).rejects.toThrow(/SIGNALBOX_FORMER_MASTER_KEYS/);
    const data = Buffer.from(encoded?.data ?? []);
    data[data.length - 1]! ^= 1;
    const error = await codec.decode([{ ...encoded, data }]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UnreadablePayload);
    expect(toClientError(error, false)).toMatchObject({ code: 'payload_unreadable' });
  });
});
