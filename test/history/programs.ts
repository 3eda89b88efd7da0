/** Definitions made of blocks, for properties: nested loops, branches and iterations around effects and waits. */
import fc from 'fast-check';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';

export type Block =
  | { readonly kind: 'set' | 'http' | 'local' | 'sleep' | 'approval' | 'listen' | 'child' }
  | { readonly kind: 'loop' | 'forEach'; readonly times: number; readonly body: readonly Block[] }
  | { readonly kind: 'parallel' | 'race'; readonly branches: readonly (readonly Block[])[] };

const LEAVES = ['set', 'http', 'http', 'local', 'sleep', 'approval', 'listen'] as const;

/** Lists of blocks; `children`: some start other runs. */
export const blocks = blocksOf(LEAVES);
export const blocksWithChildren = blocksOf([...LEAVES, 'child', 'child']);

function blocksOf(leaves: readonly ((typeof LEAVES)[number] | 'child')[]): fc.Arbitrary<Block[]> {
  const leaf = fc.constantFrom(...leaves).map((kind): Block => ({ kind }));
  return fc.letrec<{ list: Block[]; block: Block }>((tie) => ({
    list: fc.array(tie('block'), { minLength: 1, maxLength: 3 }),
    block: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      leaf,
      fc.record({
        kind: fc.constantFrom('loop' as const, 'forEach' as const),
        times: fc.integer({ min: 1, max: 3 }),
        body: tie('list'),
      }),
      fc.record({
        kind: fc.constantFrom('parallel' as const, 'race' as const),
        branches: fc.array(tie('list'), { minLength: 2, maxLength: 3 }),
      }),
    ),
  })).list;
}

export function definitionOf(list: readonly Block[]): Definition {
  const steps: { [slug: string]: StepDefinition } = {};
  let count = 0;
  const write = (todo: readonly Block[], then: string | undefined): string | undefined => {
    const [block, ...rest] = todo;
    if (block === undefined) return then;
    const slug = `${block.kind}${count++}`;
    // Its place first: steps read best in the order in which they are walked.
    steps[slug] = { stepType: 'set' };
    const next = write(rest, then);
    const inside = (body: readonly Block[]): string => write(body, undefined)!;
    switch (block.kind) {
      case 'loop':
        steps[slug] = {
          stepType: 'loop',
          config: { items: numbers(block.times) },
          nextSteps: { loop: inside(block.body), ...wired('done', next) },
        };
        break;
      case 'forEach':
        steps[slug] = {
          stepType: 'forEach',
          config: { items: numbers(block.times), concurrency: 2, onError: 'continue' },
          nextSteps: { item: inside(block.body), ...wired('done', next) },
        };
        break;
      case 'parallel':
      case 'race':
        steps[slug] = {
          stepType: block.kind,
          ...(block.kind === 'parallel' ? { config: { mode: 'settled' } } : { onError: 'continue' as const }),
          nextSteps: {
            ...Object.fromEntries(block.branches.map((branch, n) => [`b${n}`, inside(branch)])),
            ...wired('done', next),
          },
        };
        break;
      default:
        steps[slug] = leafStep(block.kind, next);
    }
    return slug;
  };
  steps['start'] = { stepType: 'trigger' };
  const first = write(list, undefined);
  steps['start'] = { stepType: 'trigger', nextSteps: wired('success', first) };
  return { name: 'Generated', slug: 'generated', start: 'start', steps };
}

function leafStep(kind: string, next: string | undefined): StepDefinition {
  switch (kind) {
    case 'http':
      return {
        stepType: 'http',
        config: { url: 'https://example.com' },
        onError: 'continue',
        nextSteps: wired('success', next),
      };
    case 'local':
      return {
        stepType: 'http',
        config: { url: 'https://example.com' },
        local: true,
        nextSteps: wired('success', next),
      };
    case 'sleep':
      return { stepType: 'sleep', config: { duration: 1_000 }, nextSteps: wired('success', next) };
    case 'approval':
      return {
        stepType: 'approval',
        config: { message: 'Go on?', timeout: 60_000 },
        nextSteps: { ...wired('approved', next), ...wired('rejected', next), ...wired('timeout', next) },
      };
    case 'child':
      return {
        stepType: 'run_workflow',
        config: { workflow: 'other', ...(next === undefined ? { wait: false } : {}) },
        onError: 'continue',
        nextSteps: wired('success', next),
      };
    case 'listen':
      return { stepType: 'listen', config: { name: 'news' }, nextSteps: wired('received', next) };
    default:
      return { stepType: 'set', config: { values: { last: '{{ nowMs }}' } }, nextSteps: wired('success', next) };
  }
}

function wired(port: string, next: string | undefined): { [port: string]: string } {
  return next === undefined ? {} : { [port]: next };
}

function numbers(times: number): number[] {
  return Array.from({ length: times }, (_, n) => n);
}
