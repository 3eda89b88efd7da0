/**
 * The canonical form of a definition and its hash (LANGUAGE.md §11). The same definition has the same hash in YAML and
 * JSON, and with any order of keys.
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { canonicalText } from '../../json/canonical-text.ts';
import type { JsonObject } from '../../json/json.ts';
import { withoutTriggerSecrets } from './trigger-secrets.ts';
import type { Definition, StepDefinition } from './types.ts';

/** Members that do not affect what a run does. */
const UNHASHED_MEMBERS: ReadonlySet<string> = new Set(['version', 'enabled', 'createdAt', 'updatedAt']);

const STARTING_KINDS: ReadonlySet<string> = new Set(['trigger', 'starting_step']);

/**
 * `sha256:` and 64 hexadecimal digits of the canonical body: without version, enabled, timestamps and trigger secrets,
 * and with an explicit `start`.
 */
export function definitionHash(definition: Definition): string {
  const text = canonicalText(hashedBody(definition));
  return `sha256:${bytesToHex(sha256(new TextEncoder().encode(text)))}`;
}

/**
 * The default of `start`: the only trigger or starting_step, else the step with the lowest `order`, else the first one
 * written (LANGUAGE.md §1). Undefined for a definition without steps.
 */
export function resolveStart(definition: Pick<Definition, 'start' | 'steps'>): string | undefined {
  if (definition.start !== undefined) return definition.start;
  const steps = Object.entries(definition.steps);
  const starters = steps.filter(([, step]) => STARTING_KINDS.has(step.stepType));
  if (starters.length === 1) return starters[0]?.[0];
  return lowestOrder(steps) ?? steps[0]?.[0];
}

/**
 * The definition with an explicit `start`. In `flow: dag` all steps without dependencies begin, so there is no `start`.
 */
function withStart(definition: Definition): Definition {
  if (definition.flow === 'dag') return definition;
  const start = resolveStart(definition);
  return start === undefined || start === definition.start ? definition : { ...definition, start };
}

function lowestOrder(steps: readonly (readonly [string, StepDefinition])[]): string | undefined {
  let found: string | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  for (const [slug, step] of steps) {
    if (typeof step.order === 'number' && step.order < lowest) {
      lowest = step.order;
      found = slug;
    }
  }
  return found;
}

function hashedBody(definition: Definition): JsonObject {
  const body: JsonObject = {};
  for (const [key, value] of Object.entries(withStart(definition))) {
    if (UNHASHED_MEMBERS.has(key) || value === undefined) continue;
    body[key] = key === 'triggers' && Array.isArray(value) ? value.map(withoutTriggerSecrets) : value;
  }
  return body;
}
