import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRELUDE, withoutPromiseHook } from '../../src/temporal-internals/promise-prelude.ts';
// The part of the SDK that installs the promise hook in the thread of workflows.
import { globalHandlers } from '../support/sdk.ts';

interface Kept {
  readonly promiseToStack: Map<unknown, unknown>;
  readonly childToParent: Map<unknown, unknown>;
}

/** What the hook keeps of promises of a workflow whose bundle begins with the prelude. */
function keptAfter(prelude: string): { kept: Kept; activator: object; promise: Promise<void> } {
  const kept: Kept = { promiseToStack: new Map(), childToParent: new Map() };
  const activator = { promiseStackStore: kept, info: { runId: 'run' } };
  const context = createContext({ __TEMPORAL_ACTIVATOR__: activator }, { microtaskMode: 'afterEvaluate' });
  runInContext(prelude, context);
  const promise = runInContext('globalThis.open = [1, 2, 3].map(() => new Promise(() => {})); open[0]', context);
  return { kept, activator, promise };
}

describe('the prelude of the bundle', () => {
  beforeAll(() => globalHandlers.install());
  afterAll(() => globalHandlers.uninstall());

  it('lets the promise hook of the SDK keep nothing, although it keeps every promise without the prelude', () => {
    expect(keptAfter('').kept.promiseToStack.size).toBe(3);
    expect(keptAfter('Error.stackTraceLimit=0;').kept.promiseToStack.size).toBe(3);
    const { kept } = keptAfter(PRELUDE);
    expect([kept.promiseToStack.size, kept.childToParent.size]).toEqual([0, 0]);
  });

  it('can be taken off a bundle, but for the stacks', () => {
    expect(withoutPromiseHook(`${PRELUDE}'use strict';`)).toBe("Error.stackTraceLimit=0;'use strict';");
    expect(() => withoutPromiseHook("'use strict';")).toThrow('prelude');
  });

  it('lets the SDK find the workflow of a promise, as for an unhandled rejection, and compile anything else', () => {
    const { activator, promise } = keptAfter(PRELUDE);
    const compile = promise.constructor.constructor;
    expect(compile('return globalThis.__TEMPORAL_ACTIVATOR__')()).toBe(activator);
    expect((promise as { runId?: string }).runId).toBe('run');
    expect(compile('return 1 + 1')()).toBe(2);
  });
});
