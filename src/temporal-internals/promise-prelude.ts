/** The SDK captures a stack for every promise of a workflow, which costs more than handling a signal. */

import { assert } from '../json/assert.ts';

/** Failures of runs have codes and paths, and need no positions in our code. 1,000 signals take a third less time. */
const NO_STACKS = 'Error.stackTraceLimit=0;';

/**
 * The SDK's promise hook compiles two functions for every promise, by `promise.constructor.constructor(text)()`: one to
 * find the workflow of the promise, one to make the error with the stack. Here it gets the first without compiling it,
 * so that unhandled rejections still find their workflow, and instead of the error an object without a stack, so that
 * it keeps nothing. A promise then costs 1.3 µs, and 9 µs before; an SDK with other texts would be as slow as before.
 */
const PROMISE_HOOK = [
  '{const activator=()=>globalThis.__TEMPORAL_ACTIVATOR__,Stackless=class{},stackless=()=>Stackless;',
  "Object.defineProperty(Promise,'constructor',{value:(text)=>",
  "text==='return globalThis.__TEMPORAL_ACTIVATOR__'?activator:",
  "text==='return globalThis.Error'?stackless:Function(text)});}",
].join('');

/** What stands at the beginning of the workflow bundle. */
export const PRELUDE = `${NO_STACKS}${PROMISE_HOOK}`;

/** The bundle with the promise hook of the SDK as it is. There are no stacks all the same. */
export function withoutPromiseHook(bundle: string): string {
  assert(bundle.startsWith(PRELUDE), 'The bundle begins with the prelude of this build.');
  return `${NO_STACKS}${bundle.slice(PRELUDE.length)}`;
}
