/** Scopes over plain data. */
import { readMember } from './member-access.ts';
import type { Scope } from './types.ts';

/** A scope whose roots are the own members of an object. */
export function objectScope(context: { readonly [name: string]: unknown }): Scope {
  return { root: (name) => readMember(context, name) };
}
