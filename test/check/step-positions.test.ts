import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';

const each = (more: JsonObject = {}): JsonObject => ({
  stepType: 'forEach',
  config: { items: '{{ input.list }}', ...more },
  nextSteps: { item: 'test', done: 'after' },
});
const test: JsonObject = {
  stepType: 'condition',
  config: { expression: 'item.bad' },
  nextSteps: { true: 'stop', false: 'fe' },
};
const after: JsonObject = { stepType: 'mapping', config: { output: 1 } };
const stop = (message: string): JsonObject => ({ stepType: 'fail', config: { message } });

function found(steps: JsonObject): string[] {
  const { problems, warnings } = check({ name: 'X', slug: 'x', start: Object.keys(steps)[0] ?? '', steps });
  const written =
    (kind: string) =>
    ({ pointer, code }: { pointer: string; code: string }): string =>
      `${kind} ${pointer.split('/')[2]} ${code}`;
  return [...problems.map(written('error')), ...warnings.map(written('warning'))];
}

describe('a step that ends the run (§3.2: it belongs to no region)', () => {
  it('reads item, index and the steps of the iteration that leads to it', () => {
    const message = '{{ item.id }} {{ index }} {{ steps.test.output.data }}';
    expect(found({ fe: each(), test, after, stop: stop(message) })).toEqual([]);
  });

  it('reads the name that as gives', () => {
    expect(found({ fe: each({ as: 'order' }), test, after, stop: stop('{{ order.id }}') })).toEqual([]);
  });

  it('reads them where the port of the forEach leads straight to it', () => {
    const fe = { stepType: 'forEach', config: { items: '{{ input.list }}' }, nextSteps: { item: 'end' } };
    expect(found({ fe, end: { stepType: 'finish', config: { output: ['{{ item }}', '{{ index }}'] } } })).toEqual([]);
  });

  it('reads what its branch has, and nothing of the sibling', () => {
    const steps = (read: string): JsonObject => ({
      p: { stepType: 'parallel', nextSteps: { left: 'a', right: 'b', done: 'after' } },
      a: { stepType: 'mapping', config: { output: 1 }, nextSteps: { success: 'end' } },
      b: { stepType: 'mapping', config: { output: 1 }, nextSteps: { success: 'p' } },
      after,
      end: { stepType: 'finish', config: { output: `{{ steps.${read}.output.data }}` } },
    });
    expect(found(steps('a'))).toEqual([]);
    expect(found(steps('b'))).toEqual(['error end step_never_before']);
  });

  it('is warned of what only some of the walks to it have', () => {
    const last = { ...after, nextSteps: { success: 'stop' } };
    const message = '{{ item.id }} {{ order.id }} {{ steps.test.output.data }}';
    expect(found({ fe: each({ as: 'order' }), test, after: last, stop: stop(message) }).sort()).toEqual([
      'warning stop not_visible',
      'warning stop outside_iteration',
      'warning stop outside_iteration',
    ]);
  });

  it('may not read what no walk to it has', () => {
    const fine = { ...test, nextSteps: { true: 'fe', false: 'fe' } };
    const last = { ...after, nextSteps: { success: 'stop' } };
    const message = '{{ item.id }} {{ order.id }} {{ steps.test.output.data }}';
    expect(found({ fe: each({ as: 'order' }), test: fine, after: last, stop: stop(message) }).sort()).toEqual([
      'error stop not_visible',
      'error stop outside_iteration',
      'error stop unknown_root',
    ]);
  });
});

describe('a start that stands in a branch', () => {
  it('comes to the container by the branch’s way back', () => {
    const steps = {
      z: { stepType: 'mapping', config: { output: 1 }, nextSteps: { success: 'p' } },
      p: { stepType: 'parallel', nextSteps: { a: 'a', b: 'b', done: 'd' } },
      a: { stepType: 'mapping', config: { output: 1 }, nextSteps: { success: 'z' } },
      b: { stepType: 'mapping', config: { output: 1 } },
      d: { stepType: 'mapping', config: { output: '{{ steps.p.output.data.b }}' } },
    };
    expect(found(steps)).toEqual([]);
  });
});
