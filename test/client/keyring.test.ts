import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createApiKeyCache } from '../../src/client/organization/api-key-cache.ts';
import { createKey, parseKey } from '../../src/client/organization/api-keys.ts';
import { deriveKeys } from '../../src/client/payloads/keys.ts';
import { type Access, unaudited } from '../../src/client/temporal/access.ts';

/** An organization's actor in memory: what its memo holds, how often it was read, and whether reads fail. */
function store() {
  const memo: { [field: string]: { [member: string]: unknown } } = {};
  const state = { memo, reads: 0, isUnavailable: false, amended: 0 };
  const describe = async () => {
    state.reads += 1;
    if (state.isUnavailable) throw new Error('Temporal is unavailable.');
    return { status: { name: 'RUNNING' }, memo: { ...memo } };
  };
  const put = (
    _update: string,
    { args: [request] }: { args: { name: string; value: { [member: string]: unknown } }[] },
  ) => {
    if (request !== undefined) memo[`keys/${request.name}`] = request.value;
    return Promise.resolve({ created: true });
  };
  const amend = () => {
    state.amended += 1;
    return Promise.resolve({ amended: true });
  };
  const client = {
    withDeadline: (_at: number, act: () => unknown) => act(),
    workflow: {
      getHandle: () => ({ describe, executeUpdate: amend }),
      executeUpdateWithStart: put,
      count: async () => ({ count: 0 }),
    },
  };
  const access = unaudited({
    client,
    keys: deriveKeys(randomBytes(32)),
    formerKeys: [],
    historyLimit: 1_000,
  } as unknown as Access);
  const make = async (name: string) =>
    (await createKey(access, 'default', { name, role: 'viewer' }, { adminElsewhere: true })).key;
  return { state, access, make };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe('a keyring', () => {
  it('forgets what was revoked within seconds also where the clock was set back', async () => {
    const { state, access, make } = store();
    const key = await make('ann');
    const keyring = createApiKeyCache(access);
    expect(await keyring.holderOf(key)).toBeDefined();
    for (const field of Object.keys(state.memo)) delete state.memo[field];
    pass(-24 * 60 * 60 * 1000);
    expect(await keyring.holderOf(key)).toBeUndefined();
  });

  it('makes no call to Temporal for organizations that do not exist', async () => {
    const { state, access } = store();
    const keyring = createApiKeyCache(access);
    const secret = 'x'.repeat(43);
    for (let i = 0; i < 100; i++)
      expect(await keyring.holderOf(`sbk_made-up-${i}_0123456789ab_${secret}`)).toBeUndefined();
    expect(state.reads).toBe(1);
  });

  it('knows whose key it is, and reads Temporal for many requests once', async () => {
    const { state, access, make } = store();
    const key = await make('ann');
    const keyring = createApiKeyCache(access);
    for (let i = 0; i < 100; i++)
      expect(await keyring.holderOf(key)).toMatchObject({ organizationId: 'default', record: { user: 'ann' } });
    expect(state.reads).toBe(1);
    expect(await keyring.hasKeys()).toBe(true);
  });

  it('accepts no text that was changed, and no key of another id or organization', async () => {
    const { access, make } = store();
    const [key, other] = [await make('ann'), await make('bob')];
    const keyring = createApiKeyCache(access);
    const [id = '', otherId = ''] = [key, other].map((text) => parseKey(text)?.id);
    for (const text of [key.slice(0, -1), `${key}A`, key.replace(id, otherId), key.replace('default', 'acme'), ''])
      expect(await keyring.holderOf(text)).toBeUndefined();
  });

  it('sees a key that another gateway has made, and one that was revoked', async () => {
    const { state, access, make } = store();
    const keyring = createApiKeyCache(access);
    expect(await keyring.hasKeys()).toBe(false);
    pass(300);
    const key = await make('ann');
    expect(await keyring.holderOf(key)).toBeDefined();
    for (const field of Object.keys(state.memo)) delete state.memo[field];
    expect(await keyring.holderOf(key)).toBeDefined();
    pass(2_000);
    expect(await keyring.holderOf(key)).toBeUndefined();
  });

  it('makes no further call because of keys that do not exist', async () => {
    const { state, access, make } = store();
    const key = await make('ann');
    const keyring = createApiKeyCache(access);
    const madeUp = key.replace(parseKey(key)?.id ?? '', '0'.repeat(12));
    for (let i = 0; i < 100; i++) expect(await keyring.holderOf(madeUp)).toBeUndefined();
    expect(state.reads).toBe(1);
  });

  it('uses its last reading while Temporal is unavailable, and accepts no key without one', async () => {
    const { state, access, make } = store();
    const key = await make('ann');
    const keyring = createApiKeyCache(access);
    expect(await keyring.holderOf(key)).toBeDefined();
    state.isUnavailable = true;
    pass(60_000);
    expect(await keyring.holderOf(key)).toBeDefined();
    expect(await keyring.hasKeys()).toBe(true);
    await expect(createApiKeyCache(access).hasKeys()).rejects.toThrow();
  });

  it('records the use of a key every ten minutes', async () => {
    const { state, access, make } = store();
    const key = await make('ann');
    const keyring = createApiKeyCache(access);
    for (let i = 0; i < 10; i++) await keyring.holderOf(key);
    await keyring.drain();
    expect(state.amended).toBe(1);
    pass(11 * 60_000);
    await keyring.holderOf(key);
    await keyring.drain();
    expect(state.amended).toBe(2);
  });
});
