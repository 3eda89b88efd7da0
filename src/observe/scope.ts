/** What the current request or activity is about. Every line of a log names it (log.ts), and spans use it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { TraceContext } from '../contract/run/trace.ts';
import { omitUndefined } from '../json/omit-undefined.ts';

export interface Scope {
  requestId?: string;
  /** The workflow id of the run. */
  executionId?: string;
  /** The path of the visit. */
  step?: string;
  organizationId?: string;
  trace?: TraceContext;
}

const scopes = new AsyncLocalStorage<Scope>();

/** Calls `run` in the scope, which also holds for everything that it awaits. */
export const inScope = <T>(scope: Scope, run: () => T): T => scopes.run(scope, run);

export const currentScope = (): Scope | undefined => scopes.getStore();

/** Adds to the current scope what has become known. Outside of a scope it does nothing. */
export function extendScope(more: Scope): void {
  const scope = scopes.getStore();
  if (scope !== undefined) Object.assign(scope, more);
}

/** The members of a scope in a line of a log. */
export function scopeLogFields(scope: Scope | undefined = scopes.getStore()): { [name: string]: string } {
  if (scope === undefined) return {};
  const { requestId, executionId, step, organizationId, trace } = scope;
  return omitUndefined({ requestId, executionId, step, organizationId, traceId: trace?.traceId });
}
