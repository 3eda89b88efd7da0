/**
 * The canonical form of a definition and its hash (LANGUAGE.md §11): whoever writes the same thing, in YAML or JSON and
 * with its keys in whatever order, gets the same hash.
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { JsonObject } from '../../json/json.ts';
import { canonicalText } from './canonical-text.ts';
import { withoutTriggerSecrets } from './trigger-secrets.ts';
import type { Definition, StepDefinition } from './types.ts';

/** Members of the document that say nothing about what a run does. */
const NOT_HASHED: ReadonlySet<string> = new Set(['version', 'enabled', 'createdAt', 'updatedAt']);

const STARTING_KINDS: ReadonlySet<string> = new Set(['trigger', 'starting_step']);

/**
 * `sha256:` and 64 hexadecimal digits over the canonical body: without version, enabled, timestamps and trigger secrets,
 * with the step where the run starts written out.
 */
export function definitionHash(definition: Definition): string {
  const text = canonicalText(hashedBody(definition));
  return `sha256:${bytesToHex(sha256(new TextEncoder().encode(text)))}`;
}

/**
 * Where a run begins when the document does not say: the only trigger or starting_step, else the step with the lowest
 * `order`, else the first as written (LANGUAGE.md §1). Undefined for a definition without steps.
 */
export function resolveStart(definition: Pick<Definition, 'start' | 'steps'>): string | undefined {
  if (definition.start !== undefined) return definition.start;
  const steps = Object.entries(definition.steps);
  const starters = steps.filter(([, step]) => STARTING_KINDS.has(step.stepType));
  if (starters.length === 1) return starters[0]?.[0];
  return lowestOrder(steps) ?? steps[0]?.[0];
}

/** The same definition with `start` written out. In `flow: dag` every step that depends on nothing begins, so none is named. */
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
    if (NOT_HASHED.has(key) || value === undefined) continue;
    body[key] = key === 'triggers' && Array.isArray(value) ? value.map(withoutTriggerSecrets) : value;
  }
  return body;
}
