/**
 * The limits that a definition sets for its own runs (LANGUAGE.md §1, concurrency and mode). Runs of one key are
 * counted together.
 */

import { traitsOf } from '../../compat/traits.ts';
import type { AppliedLimit } from '../../contract/limits/limiter.ts';
import { idPart, shortHash } from '../../contract/workflow-ids.ts';
import { payloadKey } from '../../definition/document/payload-key.ts';
import type { Definition } from '../../definition/document/types.ts';
import { canonicalText } from '../../json/canonical-text.ts';
import { isObject, type Json } from '../../json/json.ts';
import { objectScope } from '../../template/scope.ts';
import { parseTemplate, render } from '../../template/template.ts';
import { TemplateError } from '../../template/types.ts';

/** The values that determine a run's own limits. */
interface LimitSubject {
  readonly organizationId: string;
  readonly definition: Definition;
  readonly input: Json;
}

/** The workflow id of a limiter: `gate.{org}.{hash}` (ARCHITECTURE.md §4). */
export function limiterId(org: string, ...what: readonly string[]): string {
  return `gate.${idPart(org)}.${shortHash(...what)}`;
}

/**
 * The limiters of the run's own definition; empty without limits. Runs whose key cannot be evaluated are counted
 * together.
 */
export function definitionLimits(subject: LimitSubject): AppliedLimit[] {
  const { definition } = subject;
  const { concurrency, mode, debounce } = definition.config ?? {};
  const appliedLimits: AppliedLimit[] = [];
  const isLimited = concurrency !== undefined || mode === 'restart';
  // A version with the limit may follow one without it, and has to count that version's runs.
  const limits = { version: definition.version ?? null, concurrency: concurrency ?? null, mode: mode ?? null };
  const basis = isLimited ? shortHash(canonicalText({ ...limits, key: debounce?.key ?? null } as Json)) : '';
  if (concurrency !== undefined) {
    const { limit, key, overflow = 'queue' } = concurrency;
    const keyGroup = key === undefined ? 'all' : ignoreTemplateErrors(() => `key ${keyOf(subject, key)}`);
    const gate = limiterId(subject.organizationId, 'workflow', definition.slug, keyGroup ?? 'all');
    appliedLimits.push({ gate, scope: 'workflow', limit, overflow, group: '', basis });
  }
  const restarts = mode === 'restart' ? restartKey(subject) : undefined;
  if (restarts !== undefined) {
    const gate = limiterId(subject.organizationId, 'restart', definition.slug, restarts);
    appliedLimits.push({
      gate,
      scope: 'workflow',
      limit: 1,
      overflow: 'cancel-oldest',
      evict: 'abort',
      group: '',
      basis,
    });
  }
  return appliedLimits;
}

/**
 * `mode: restart`: a run replaces the run of the same debounce key; without a key, of the same workflow. A payload that
 * lacks the key replaces nothing.
 */
function restartKey({ definition, input }: LimitSubject): string | undefined {
  const key = definition.config?.debounce?.key;
  return key === undefined ? 'all' : ignoreTemplateErrors(() => payloadKey(key, input));
}

function keyOf(subject: LimitSubject, key: string): string {
  const { definition, input, organizationId } = subject;
  const variables = definition.config?.variables ?? {};
  const flat = traitsOf(definition.dialect).readsInputKeys && isObject(input) ? input : {};
  const roots = { ...flat, ...variables, input, variables, organizationId };
  // The clock is not part of a key, or runs of one key would not be counted together.
  const { value } = render(parseTemplate(key), objectScope(roots), { now: 0, isLegacy: () => true });
  return typeof value === 'string' ? value : canonicalText(value);
}

function ignoreTemplateErrors(key: () => string | undefined): string | undefined {
  try {
    return key();
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
