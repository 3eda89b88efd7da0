/** The definitions of the bench: the same work as workflows.ts. */
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';

const call = (next?: string): StepDefinition => ({
  stepType: 'http',
  config: { url: 'http://bench/{{ execution.path }}' },
  ...(next === undefined ? {} : { nextSteps: { success: next } }),
});

function definition(slug: string, steps: Definition['steps'], rest: Partial<Definition> = {}): Definition {
  return { name: slug, slug, steps, ...rest };
}

export const empty = definition('empty', { done: { stepType: 'finish' } });

export function chain(count: number): Definition {
  const steps: { [slug: string]: StepDefinition } = {};
  for (let n = 0; n < count; n++) steps[`s${n}`] = call(n + 1 < count ? `s${n + 1}` : undefined);
  return definition(`chain-${count}`, steps);
}

/** `count` effects in a loop: what runs long is a loop, and its state must not grow. */
export function looped(count: number): Definition {
  return definition('looped', {
    each: {
      stepType: 'loop',
      config: { while: `loop.index < ${count}`, maxIterations: count + 1 },
      nextSteps: { loop: 'call' },
    },
    call: call('each'),
  });
}

/** `count` pure steps: a loop's ticks and a condition in each. */
export function pure(count: number): Definition {
  const ticks = Math.floor(count / 2);
  return definition('pure', {
    each: {
      stepType: 'loop',
      config: { while: `loop.index < ${ticks}`, maxIterations: ticks + 1 },
      nextSteps: { loop: 'even' },
    },
    even: {
      stepType: 'condition',
      config: { expression: 'loop.index % 2 == 0' },
      nextSteps: { true: 'each', false: 'each' },
    },
  });
}

export function fanned(count: number, atOnce: number): Definition {
  return definition('fanned', {
    each: {
      stepType: 'forEach',
      config: { items: Array.from({ length: count }, (_, n) => n), concurrency: atOnce },
      nextSteps: { item: 'call' },
    },
    call: call(),
  });
}

export const approval = definition('approval', {
  ask: { stepType: 'approval', config: { message: 'Go on?' }, nextSteps: { approved: 'call' } },
  call: call(),
});

/** Steps of many kinds, as a large definition has them. */
export function mixed(count: number): Definition {
  const steps: { [slug: string]: StepDefinition } = {};
  for (let n = 0; n < count; n++) {
    const next = n + 1 < count ? `s${n + 1}` : '$end';
    const kinds: StepDefinition[] = [
      call(next),
      {
        stepType: 'condition',
        config: { expression: `steps.s${Math.max(0, n - 1)}.output.data > ${n} && input.amount >= 10` },
        nextSteps: { true: next, false: next },
      },
      { stepType: 'set', config: { values: { [`v${n}`]: `{{ input.amount * ${n} }}` } }, nextSteps: { success: next } },
      {
        stepType: 'approval',
        config: { message: `Pay {{ input.amount }} for ${n}?`, timeout: '2d' },
        nextSteps: { approved: next, rejected: '$end', timeout: next },
      },
    ];
    steps[`s${n}`] = kinds[n % kinds.length]!;
  }
  return definition('mixed', steps);
}
