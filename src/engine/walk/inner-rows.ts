/**
 * Inner rows of the trace: an agent's model calls and tool calls are durable steps with paths of their own. The open
 * ones are part of the state, so a fold shows the same rows (E6).
 */
import type { Json, JsonObject } from '../../json/json.ts';
import type { EffectResult, FailureShape } from '../../steps/kind.ts';
import { type Core, stepNameMember, stepOf } from '../state/core.ts';
import { withLocation } from '../state/failure.ts';
import { commandId } from '../state/paths.ts';
import type { OpenVisit } from '../state/state.ts';

/** Begins the row, unless it has begun: a call with an approval has its row already. */
export function beginInnerRow(core: Core, visit: OpenVisit, suffix: string, stepType: string, input?: Json): void {
  const path = commandId(visit.path, suffix);
  visit.innerRows ??= {};
  if (!Object.hasOwn(visit.innerRows, suffix)) {
    visit.innerRows[suffix] = stepType;
    const stepName = stepNameMember(stepOf(core, visit.key ?? visit.slug));
    core.trace?.({ t: 'begin', path, slug: visit.slug, ...stepName, stepType, within: visit.path, at: core.state.now });
  }
  if (input !== undefined) core.trace?.({ t: 'input', path, input });
}

type End = { readonly result: EffectResult } | { readonly error: FailureShape } | 'cancelled';

/** Ends the row of that suffix, if there is one. */
export function endInnerRow(core: Core, visit: OpenVisit, suffix: string, end: End): void {
  const { innerRows: inner } = visit;
  if (inner === undefined || !Object.hasOwn(inner, suffix)) return;
  const type = inner[suffix]!;
  delete inner[suffix];
  if (core.trace === undefined) return;
  const path = commandId(visit.path, suffix);
  const { now: at } = core.state;
  if (end === 'cancelled') core.trace({ t: 'end', path, status: 'cancelled', at });
  else if ('error' in end)
    core.trace({ t: 'end', path, status: 'failed', error: withLocation(end.error, path, visit.slug), at });
  else core.trace({ t: 'end', path, status: 'completed', output: { type, ...end.result } as JsonObject, at });
}

/** Cancels the open inner rows of a visit that closes. */
export function cancelInnerRows(core: Core, visit: OpenVisit): void {
  for (const suffix of Object.keys(visit.innerRows ?? {})) endInnerRow(core, visit, suffix, 'cancelled');
}
