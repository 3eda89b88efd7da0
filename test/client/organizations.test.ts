// What the checks of callers cost: calls to Temporal, counted.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createApiKeyCache } from '../../src/client/organization/api-key-cache.ts';
import { createKey } from '../../src/client/organization/api-keys.ts';
import {
  ensureOrganization,
  hasSeveralOrganizations,
  isOrganization,
} from '../../src/client/organization/organizations.ts';
import { organizationOfPublicKey, readPublicKey, renewPublicKey } from '../../src/client/organization/public-key.ts';
import { deriveKeys } from '../../src/client/payloads/keys.ts';
import { type Access, unaudited } from '../../src/client/temporal/access.ts';

type Entry = { collection?: string; name: string; value: object };

/** The actors of organizations in memory: their memos, and how often they were read, by one gateway of several. */
function stores() {
  const memos: { [id: string]: { [field: string]: object } } = {};
  const gateway = () => {
    const state = { reads: 0 };
    const describe = async (id: string) => {
      state.reads += 1;
      return { status: { name: 'RUNNING' }, memo: { ...memos[id] } };
    };
    const client = {
      withDeadline: (_at: number, act: () => unknown) => act(),
      workflow: {
        getHandle: (id: string) => ({ describe: () => describe(id) }),
        executeUpdateWithStart: async (
          _update: string,
          {
            args: [entry],
            startWorkflowOperation: { options },
          }: { args: [Entry]; startWorkflowOperation: { options: { workflowId: string } } },
        ) => {
          const { collection = 'keys', name, value } = entry;
          const memo = memos[options.workflowId] ?? {};
          memos[options.workflowId] = { ...memo, [`${collection}/${name}`]: value };
          return { created: true };
        },
        count: async () => ({ count: 0 }),
      },
    };
    const access = unaudited({ client, keys, formerKeys: [], historyLimit: 1_000 } as unknown as Access);
    return { state, access };
  };
  const keys = deriveKeys(randomBytes(32));
  return { gateway };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const times = (count: number, act: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)));

describe('made-up organizations', () => {
  it('cost one call in five seconds, however many callers name them', async () => {
    const { state, access } = stores().gateway();
    for (let second = 0; second < 5; second++) {
      await times(100, async (n) => expect(await isOrganization(access, `made-up-${n}`)).toBe(false));
      if (second < 4) pass(1_000);
    }
    expect(state.reads).toBe(1);
    pass(1_000);
    await times(100, (n) => isOrganization(access, `made-up-${n}`));
    expect(state.reads).toBe(2);
  });

  it('are not what other gateways make: those are known after five seconds at the latest', async () => {
    const { gateway } = stores();
    const [here, there] = [gateway(), gateway()];
    expect(await isOrganization(here.access, 'acme')).toBe(false);
    await ensureOrganization(there.access, 'acme');
    pass(5_000);
    expect(await isOrganization(here.access, 'acme')).toBe(true);
    expect(hasSeveralOrganizations(here.access)).toBe(true);
  });
});

it('the first key of a new organization is taken immediately by the gateway that has made it', async () => {
  const { access } = stores().gateway();
  const keyring = createApiKeyCache(access);
  expect(await isOrganization(access, 'acme')).toBe(false);
  expect(hasSeveralOrganizations(access)).toBe(false);
  const { key } = await createKey(access, 'acme', { name: 'ann', role: 'admin' }, { adminElsewhere: true });
  expect(await keyring.holderOf(key)).toMatchObject({ organizationId: 'acme' });
  expect(hasSeveralOrganizations(access)).toBe(true);
});

describe('public keys', () => {
  it('that are forged cost one call in five seconds', async () => {
    const { state, access } = stores().gateway();
    const forged = (n: number) => `pub.${Buffer.from('default').toString('base64url')}.${String(n).padStart(32, '0')}`;
    await times(100, async (n) => expect(await organizationOfPublicKey(access, forged(n))).toBeUndefined());
    pass(4_900);
    await times(100, async (n) => expect(await organizationOfPublicKey(access, forged(n))).toBeUndefined());
    expect(state.reads).toBe(1);
    const madeUp = (n: number) => `pub.${Buffer.from(`made-up-${n}`).toString('base64url')}.${'0'.repeat(32)}`;
    await times(100, async (n) => expect(await organizationOfPublicKey(access, madeUp(n))).toBeUndefined());
    expect(state.reads).toBe(2);
  });

  it('that were replaced are refused immediately, also by other gateways', async () => {
    const { gateway } = stores();
    const [here, there] = [gateway(), gateway()];
    const former = await readPublicKey(here.access, 'default');
    expect(await organizationOfPublicKey(here.access, former)).toBe('default');
    expect(await organizationOfPublicKey(there.access, former)).toBe('default');
    const present = await renewPublicKey(there.access, 'default');
    expect(await organizationOfPublicKey(here.access, former)).toBeUndefined();
    expect(await organizationOfPublicKey(there.access, former)).toBeUndefined();
    expect(await organizationOfPublicKey(there.access, present)).toBe('default');
    pass(5_000);
    expect(await organizationOfPublicKey(here.access, present)).toBe('default');
  });
});
