/**
 * An organization's public key. It names the organization in addresses that strangers call, and proves
 * that the organization gave it out. It starts workflows and permits nothing else. A new key invalidates the former
 * one.
 */

import { ulid } from 'ulid';
import { BoundedMap } from '../../json/bounded-map.ts';
import { constantTimeEqual, hmacHex } from '../payloads/keys.ts';
import { type Access, keysFor, type WriteAccess } from '../temporal/access.ts';
import { perClient } from '../temporal/per-client.ts';
import { putEntry, readEntry } from './organization-entries.ts';
import { isFresh, isOrganization } from './organizations.ts';

const COLLECTION = 'public-key';
const NAME = 'current';
const PROOF_DIGITS = 32;

interface Generation {
  readonly generation: string;
}

/** The valid key: `pub.{organization, in base64url}.{proof}`. */
export async function readPublicKey(access: Access, org: string): Promise<string> {
  return keyOf(access.keys.publicKeys, org, await generationOf(access, org));
}

/** Makes a new key, and invalidates the former one. */
export async function renewPublicKey(access: WriteAccess, org: string): Promise<string> {
  const generation = ulid();
  await putEntry(access, org, COLLECTION, NAME, { generation } satisfies Generation);
  cacheGeneration(access, org, Promise.resolve(generation));
  return keyOf(access.keys.publicKeys, org, generation);
}

/** The organization of a key. Undefined for a text that is not a valid key. */
export async function organizationOfPublicKey(access: Access, given: string): Promise<string | undefined> {
  const [form, name] = given.split('.');
  if (form !== 'pub' || name === undefined) return undefined;
  const org = Buffer.from(name, 'base64url').toString('utf8');
  // A forged key must not cost a request to Temporal.
  if (!(await isOrganization(access, org))) return undefined;
  const matches = (generation: string): boolean =>
    keysFor(access, 'publicKeys').some((key) => constantTimeEqual(keyOf(key, org, generation), given));
  const last = cacheOf(access).get(org);
  if (last !== undefined && isFresh(last.readAt, FRESH_MS)) {
    if (!matches(await last.generation)) return undefined;
    // It may have been replaced in the meantime.
    return matches(await generationOf(access, org)) ? org : undefined;
  }
  const generation = generationOf(access, org);
  cacheGeneration(access, org, generation);
  return matches(await generation) ? org : undefined;
}

/** How often an organization's generation is asked for keys that do not belong to it. */
const FRESH_MS = 5_000;
const MAX_CACHED_GENERATIONS = 1_000;

interface CachedGeneration {
  readonly generation: Promise<string>;
  readonly readAt: number;
}

/** By organization. */
const cacheOf = perClient(() => new BoundedMap<string, CachedGeneration>(MAX_CACHED_GENERATIONS));

function cacheGeneration(access: Access, org: string, generation: Promise<string>): void {
  const cache = cacheOf(access);
  const entry = { generation, readAt: Date.now() };
  cache.set(org, entry);
  // After a failed request, the next caller asks again.
  generation.catch(() => cache.get(org) === entry && cache.delete(org));
}

const generationOf = async (access: Access, org: string): Promise<string> =>
  (await readEntry<Generation>(access, org, COLLECTION, NAME))?.generation ?? '';

function keyOf(key: Uint8Array, org: string, generation: string): string {
  const proof = hmacHex(key, JSON.stringify([org, generation])).slice(0, PROOF_DIGITS);
  return `pub.${Buffer.from(org).toString('base64url')}.${proof}`;
}
