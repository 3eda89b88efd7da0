/** Paths of visits (LANGUAGE.md §3.12): the ids of commands, deterministic and unique (E3). */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { MAX_PATH_LENGTH } from './limits.ts';

const KEPT_PATH_LENGTH = MAX_PATH_LENGTH - 34;

/**
 * A path of more than 200 characters keeps its beginning, and ends with 32 hex digits of the hash of the whole path.
 */
export function shorten(path: string): string {
  if (path.length <= MAX_PATH_LENGTH) return path;
  return `${path.slice(0, KEPT_PATH_LENGTH)}~~${bytesToHex(sha256(new TextEncoder().encode(path))).slice(0, 32)}`;
}

/** `parent/slug`, and `#n` from the second visit within its parent on. */
export function visitPath(parent: string, slug: string, n: number): string {
  const name = n === 1 ? slug : `${slug}#${n}`;
  return parent === '' ? name : shorten(`${parent}/${name}`);
}

export function tickPath(loop: string, tick: number): string {
  return shorten(`${loop}~${tick}`);
}

/** A branch's frame is `par/left`, an iteration's `each[3]`. */
export function framePath(container: string, name: string, iteration: boolean): string {
  if (container === '') return name;
  return shorten(iteration ? `${container}[${name}]` : `${container}/${name.replace(/[^A-Za-z0-9_.-]/g, escaped)}`);
}

/** A branch may have any name. Characters that have a meaning in paths are escaped, so ids stay unique. */
function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Commands of a visit besides its first: a timeout's timer, an agent's turns. */
export function commandId(path: string, suffix: string | undefined): string {
  return suffix === undefined || suffix === '' ? path : shorten(`${path}${suffix}`);
}

/** How often a step was visited within its parent. Slugs such as `constructor` are names like others. */
export function visitCount(counts: { readonly [slug: string]: number }, slug: string): number {
  return Object.hasOwn(counts, slug) ? counts[slug]! : 0;
}
