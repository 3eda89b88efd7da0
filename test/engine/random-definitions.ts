/** Definitions of blocks for property tests: nested containers, and every kind of step, modifier and exit. */
import fc from 'fast-check';
import type { Definition, RollbackStep, StepDefinition } from '../../src/definition/document/types.ts';

interface Modifiers {
  readonly when: 'none' | 'true' | 'false';
  readonly onError: 'fail' | 'continue' | 'port';
  readonly rollback: boolean;
  readonly save: boolean;
}

const LEAVES = [
  'set',
  'mapping',
  'http',
  'sleep',
  'approval',
  'user_input',
  'listen',
  'checkpoint',
  'fail',
  'finish',
  'return',
  'break',
] as const;
/** Ways out are rare, so that what comes after them is walked too. */
const WEIGHTS: { readonly [kind in (typeof LEAVES)[number]]?: number } = {
  http: 8,
  sleep: 3,
  approval: 3,
  listen: 3,
  fail: 1,
  finish: 1,
  return: 1,
};
const leafKind = fc.oneof(...LEAVES.map((kind) => ({ weight: WEIGHTS[kind] ?? 2, arbitrary: fc.constant(kind) })));

export type Block =
  | { readonly kind: (typeof LEAVES)[number]; readonly modifiers: Modifiers; readonly strong: boolean }
  | {
      readonly kind: 'loop' | 'forEach';
      readonly times: number;
      readonly strong: boolean;
      readonly back: boolean;
      readonly modifiers: Modifiers;
      readonly body: readonly Block[];
    }
  | {
      readonly kind: 'parallel' | 'race';
      readonly strong: boolean;
      readonly back: boolean;
      readonly modifiers: Modifiers;
      readonly branches: readonly (readonly Block[])[];
    };

const modifiers: fc.Arbitrary<Modifiers> = fc.record({
  when: fc.oneof(
    { weight: 12, arbitrary: fc.constant('none' as const) },
    { weight: 1, arbitrary: fc.constantFrom('true' as const, 'false' as const) },
  ),
  onError: fc.constantFrom('fail', 'fail', 'continue', 'port'),
  rollback: fc.constantFrom(true, true, true, false),
  save: fc.boolean(),
});

const blocks = fc.letrec<{ list: Block[]; block: Block }>((tie) => ({
  list: fc.array(tie('block'), { minLength: 1, maxLength: 4, size: 'max' }),
  block: fc.oneof(
    { maxDepth: 3, depthSize: 'large', withCrossShrink: true },
    { weight: 3, arbitrary: fc.record({ kind: leafKind, modifiers, strong: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('loop' as const, 'forEach' as const),
        times: fc.integer({ min: 0, max: 3 }),
        strong: fc.boolean(),
        back: fc.boolean(),
        modifiers,
        body: tie('list'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('parallel' as const, 'race' as const),
        strong: fc.boolean(),
        back: fc.boolean(),
        modifiers,
        branches: fc.array(tie('list'), { minLength: 1, maxLength: 3 }),
      }),
    },
  ),
})).list;

/** A definition that compiles, whatever it then does. */
export const definitions: fc.Arbitrary<Definition> = fc
  .record({
    list: blocks,
    onFailure: fc.constantFrom('fail' as const, 'rollback' as const, 'rollback' as const),
    timeout: fc.constantFrom(undefined, '10m'),
  })
  .map(({ list, onFailure, timeout }) => ({
    name: 'Generated',
    slug: 'generated',
    start: 'start',
    state: { last: { type: 'number' as const, default: 0 } },
    config: { maxSteps: 400, onFailure, ...(timeout === undefined ? {} : { timeout }), variables: { n: 0 } },
    steps: new Writer().definition(list),
  }));

/** Where a list of blocks stands: what ends its frame or tick, and whether `break` has a loop here. */
interface Around {
  readonly container?: string;
  readonly inLoop: boolean;
}

class Writer {
  readonly #steps: { [slug: string]: StepDefinition } = {};
  #count = 0;

  definition(list: readonly Block[]): { [slug: string]: StepDefinition } {
    this.#steps['start'] = { stepType: 'trigger' };
    const first = this.#write(list, undefined, { inLoop: false });
    this.#steps['start'] = { stepType: 'trigger', nextSteps: { success: first! } };
    return this.#steps;
  }

  #write(list: readonly Block[], end: string | undefined, around: Around): string | undefined {
    const [block, ...rest] = list;
    if (block === undefined) return end;
    const kind = block.kind === 'break' && !around.inLoop ? 'checkpoint' : block.kind;
    const slug = `${kind}${this.#count++}`;
    // Its place first: steps read best in the order in which they are walked.
    this.#steps[slug] = { stepType: kind };
    const next = this.#write(rest, end, around);
    const step = this.#step(kind, slug, block);
    const ports = portsOf(kind, block.modifiers, next);
    this.#steps[slug] = {
      ...step,
      ...written(block.modifiers, step.stepType),
      nextSteps: { ...step.nextSteps, ...ports },
    };
    return slug;
  }

  #body(list: readonly Block[], slug: string, back: boolean, inLoop: boolean): string {
    return this.#write(list, back ? slug : undefined, { container: slug, inLoop })!;
  }

  #step(kind: Block['kind'], slug: string, block: Block): StepDefinition {
    const { strong } = block;
    if ('body' in block) {
      const first = this.#body(block.body, slug, block.back, kind === 'loop');
      const items = Array.from({ length: block.times }, (_, i) => i);
      if (kind === 'forEach')
        return {
          stepType: kind,
          config: { items, concurrency: 2, onError: strong ? 'continue' : 'fail' },
          nextSteps: { item: first },
        };
      const config = strong
        ? { items }
        : { initial: block.times, while: 'loop.carry > 0', next: '{{ loop.carry - 1 }}' };
      return { stepType: kind, config, nextSteps: { loop: first } };
    }
    if ('branches' in block) {
      const branches = block.branches.map((branch, i) => [`b${i}`, this.#body(branch, slug, block.back, false)]);
      const config = kind === 'parallel' ? { mode: strong ? 'settled' : 'all', failFast: branches.length > 2 } : {};
      return { stepType: kind, config, nextSteps: Object.fromEntries(branches) };
    }
    return leaf(kind, strong);
  }
}

function leaf(stepType: Block['kind'], strong: boolean): StepDefinition {
  switch (stepType) {
    case 'set':
      return { stepType, config: { values: { n: '{{ n + 1 }}', seen: '{{ lastOutput.data }}' } } };
    case 'mapping':
      return { stepType, config: { output: { n: '{{ n }}', loop: '{{ loop.index }}', error: '{{ error.code }}' } } };
    case 'http':
      return {
        stepType,
        config: { url: 'https://example.test/{{ n }}' },
        ...(strong ? { retry: { maxAttempts: 1 } } : {}),
      };
    case 'sleep':
      return { stepType, config: { duration: strong ? '1m' : 0 } };
    case 'approval':
      return { stepType, config: { message: 'Well?', ...(strong ? { timeout: '5m', reminders: ['1m'] } : {}) } };
    case 'user_input':
      return { stepType, config: { message: 'What?', ...(strong ? { timeout: '5m', default: 1 } : {}) } };
    case 'listen':
      return {
        stepType,
        config: strong ? { name: ['news', 'gossip'], key: 'k{{ 1 }}', timeout: '5m', count: 2 } : { name: 'news' },
      };
    case 'fail':
      return { stepType, config: { code: 'broken', rollback: strong } };
    case 'finish':
    case 'return':
      return { stepType, config: { output: '{{ n }}' } };
    default:
      return { stepType, config: {} };
  }
}

function portsOf(kind: Block['kind'], { onError }: Modifiers, next: string | undefined): { [port: string]: string } {
  if (next === undefined) return {};
  const ends = kind === 'fail' || kind === 'finish' || kind === 'return';
  if (ends) return { skipped: next };
  const error = onError === 'port' ? { error: next } : {};
  switch (kind) {
    case 'approval':
      return { approved: next, rejected: next, ...error };
    case 'user_input':
      return { submitted: next, ...error };
    case 'listen':
      return { received: next, ...error };
    case 'break':
      return { skipped: next, ...error };
    case 'loop':
    case 'forEach':
    case 'parallel':
    case 'race':
      return { done: next, ...error };
    default:
      return { success: next, ...error };
  }
}

/** It reads `error`, so the other roots that it reads are captured. */
const undo = (reads: string): RollbackStep => ({
  stepType: 'http',
  config: { url: 'https://example.test/undo', body: `{{ ${reads} }}` },
});
const UNDO = undo('error.code');
const UNDO_BY_ALL = undo('[error.code, output.data, lastOutput, steps]');

function written({ when, onError, rollback, save }: Modifiers, stepType: string): Partial<StepDefinition> {
  return {
    ...(when === 'none' ? {} : { when }),
    ...(onError === 'continue' ? { onError } : {}),
    ...(rollback && stepType === 'http' ? { rollback: save ? UNDO_BY_ALL : UNDO } : {}),
    ...(save && stepType === 'http' ? { saveToState: { last: 'output.data' } } : {}),
  };
}
