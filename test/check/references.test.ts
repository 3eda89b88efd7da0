import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';

const set = (value: string, next?: string): JsonObject => ({
  stepType: 'set',
  config: { values: { v: value } },
  ...(next === undefined ? {} : { nextSteps: { success: next } }),
});

/** Problems of references as `step: code`. */
function found(steps: JsonObject, more: JsonObject = {}): string[] {
  const { problems } = check({ name: 'X', slug: 'x', start: Object.keys(steps)[0] ?? '', steps, ...more });
  return problems.map(({ pointer, code }) => `${pointer.split('/')[2] ?? pointer.slice(1)}: ${code}`);
}

function warned(steps: JsonObject, more: JsonObject = {}): string[] {
  const { warnings } = check({ name: 'X', slug: 'x', start: Object.keys(steps)[0] ?? '', steps, ...more });
  return warnings.map(({ pointer, code }) => `${pointer.split('/')[2] ?? pointer.slice(1)}: ${code}`);
}

describe('a step that is read', () => {
  it('must exist', () => {
    expect(found({ a: set('{{ steps.nobody.output.data }}') })).toEqual(['a: unknown_step']);
  });

  it('must be able to have run before', () => {
    expect(found({ a: set('{{ steps.b.output.data }}', 'b'), b: set('{{ steps.a.output.data }}') })).toEqual([
      'a: step_never_before',
    ]);
    expect(found({ a: set('{{ steps.a.output.data }}') })).toEqual(['a: step_never_before']);
  });

  it('may come before by another way, or by going round', () => {
    const steps = {
      c: { stepType: 'condition', config: { expression: 'input.x' }, nextSteps: { true: 'a', false: 'b' } },
      a: set('1', 'b'),
      b: {
        stepType: 'condition',
        config: { expression: 'steps.a.output.data && steps.z.output.data' },
        nextSteps: { true: 'z', false: '$end' },
      },
      z: set('1', 'c'),
    };
    expect(found(steps)).toEqual([]);
  });

  it('may be the step itself where it has ended', () => {
    expect(
      found({
        a: {
          ...set('1'),
          saveToState: { k: 'steps.a.output.data' },
          rollback: { stepType: 'http', config: { url: 'https://x.y/{{ steps.a.output.data.v }}' } },
        },
      }),
    ).toEqual([]);
  });

  it('is an entry with an output', () => {
    expect(
      warned({ a: set('1', 'b'), b: set('{{ steps.a.data }} {{ steps.a.output.v }} {{ steps.a.output.data.v }}') }),
    ).toEqual(['b: unknown_step_member', 'b: unknown_step_member']);
  });

  it('in a loop is readable after it, and by its own next and while', () => {
    const steps = {
      l: {
        stepType: 'loop',
        config: { while: 'steps.b.output.data.v < 3', next: '{{ steps.b.output.data.v }}' },
        nextSteps: { loop: 'b', done: 'z' },
      },
      b: set('{{ steps.l.output.data.state }}', 'l'),
      z: set('{{ steps.b.output.data.v }}'),
    };
    expect(found(steps)).toEqual([]);
  });

  it('in one branch is readable after the join, and not in the other branch', () => {
    const steps = {
      p: { stepType: 'parallel', nextSteps: { left: 'a', right: 'b', done: 'z' } },
      a: set('1', 'p'),
      b: set('{{ steps.a.output.data }}', 'p'),
      z: set('{{ steps.a.output.data }} {{ steps.p.output.data.left }}'),
    };
    expect(found(steps)).toEqual(['b: step_never_before']);
  });

  it('in a branch without an edge back is readable after the join, too', () => {
    const steps = {
      p: { stepType: 'race', nextSteps: { left: 'a', right: 'b', done: 'z' } },
      a: set('1'),
      b: set('1'),
      z: set('{{ steps.a.output.data }}'),
    };
    expect(found(steps)).toEqual([]);
  });

  it('that branches share is hidden outside', () => {
    const steps = {
      p: { stepType: 'parallel', nextSteps: { left: 'a', right: 'b', done: 'z' } },
      a: set('1', 'c'),
      b: set('1', 'c'),
      c: set('{{ steps.a.output.data || steps.b.output.data }}', 'p'),
      z: set('{{ steps.c.output.data }}'),
    };
    expect(found(steps)).toEqual(['z: not_visible']);
  });

  it('in an iteration is hidden outside, and readable within', () => {
    const steps = {
      f: { stepType: 'forEach', config: { items: '{{ input.list }}' }, nextSteps: { item: 'a', done: 'z' } },
      a: set('{{ item.x }}', 'b'),
      b: set('{{ steps.a.output.data }}', 'f'),
      z: set('{{ steps.a.output.data }}'),
    };
    expect(found(steps, { output: '{{ steps.b.output.data }}' })).toEqual(['z: not_visible', 'output: not_visible']);
  });

  it('is read by unreachable steps without further ado', () => {
    expect(found({ a: set('1'), u: set('{{ steps.u2.output.data }}'), u2: set('1') })).toEqual([]);
  });
});

describe('roots', () => {
  it('are those of the language, and variables', () => {
    const steps = {
      a: set(
        '{{ input.a }} {{ limit }} {{ limti }} {{ execution.id }} {{ now }} {{ error.code }} {{ organizationId }}',
      ),
    };
    expect(found(steps, { config: { variables: { limit: 1 } } })).toEqual(['a: unknown_root']);
  });

  it('are also what a set writes, wherever it stands', () => {
    expect(
      found({
        a: { stepType: 'set', config: { values: [{ name: 'page', value: 1 }] }, nextSteps: { success: 'b' } },
        b: set('{{ page + 1 }}'),
      }),
    ).toEqual([]);
    const open = {
      a: { stepType: 'set', config: { values: '{{ input }}' }, nextSteps: { success: 'b' } },
      b: set('{{ page }}'),
    };
    expect([found(open), warned(open)]).toEqual([[], ['b: unknown_variable']]);
  });

  it('loop needs a loop around or before', () => {
    const steps = {
      a: set('{{ loop.index }}', 'l'),
      l: { stepType: 'loop', config: { items: [1] }, nextSteps: { loop: 'b', done: 'z' } },
      b: set('{{ loop.item }}', 'l'),
      z: set('{{ loop.state.iterations }}'),
    };
    expect(found(steps)).toEqual(['a: outside_loop']);
  });

  it('item and index need a forEach around, and a name given by as its body', () => {
    const steps = {
      f: { stepType: 'forEach', config: { items: [1], as: 'order' }, nextSteps: { item: 'b', done: 'z' } },
      b: set('{{ order.id }} {{ index }}', 'f'),
      z: set('{{ order.id }} {{ item }}'),
    };
    expect(found(steps)).toEqual(['z: unknown_root', 'z: outside_iteration']);
  });

  it('outputs and variables have the members that are written', () => {
    expect(
      warned({
        a: { ...set('1', 'b'), outputVariable: 'x' },
        b: set('{{ outputs.x }} {{ outputs.y }} {{ variables.v }} {{ variables.q }}'),
      }),
    ).toEqual(['b: unknown_output', 'b: unknown_variable']);
  });

  it('in dialect 000 may be keys of the input', () => {
    const checked = check({
      workflowConfig: { name: 'X' },
      stepsConfig: [
        {
          stepSlug: 'c',
          name: 'C',
          stepType: 'condition',
          order: 1,
          config: { expression: 'pageSize > 1' },
          nextSteps: { true: 'noop', false: 'noop' },
        },
      ],
    });
    expect([checked.problems, checked.warnings.map(({ code }) => code)]).toEqual([[], ['unknown_variable']]);
  });

  it('secrets stand only where they may', () => {
    const http = {
      stepType: 'http',
      config: { url: 'https://x.y', headers: { a: 'Bearer {{ secrets.KEY }}', b: '{{ secrets.OTHER }}' } },
    };
    expect([
      found({ a: http }, { config: { secrets: { KEY: 'k' } } }),
      warned({ a: http }, { config: { secrets: { KEY: 'k' } } }),
    ]).toEqual([[], ['a: undeclared_secret']]);
    expect(found({ a: set('{{ secrets.KEY }}') }, { config: { secrets: { KEY: 'k' } } })).toEqual([
      'a: secret_not_allowed',
    ]);
    expect(
      found({
        a: {
          stepType: 'condition',
          config: { expression: 'secrets.KEY == 1' },
          nextSteps: { true: '$end', false: '$end' },
        },
      }),
    ).toEqual(['a: secret_not_allowed']);
  });
});

describe('flow: dag', () => {
  const dag = (steps: JsonObject, more: JsonObject = {}): string[] =>
    found(steps, { flow: 'dag', start: undefined as never, ...more });

  it('has no circles, no ports and no lastOutput', () => {
    expect(dag({ a: set('{{ steps.b.output.data }}'), b: set('{{ steps.a.output.data }}') })).toEqual([
      'a: circular_dependency',
    ]);
    expect(dag({ a: set('{{ lastOutput.data }}') })).toEqual(['a: not_in_dag']);
    expect(dag({ a: set('1', 'b'), b: set('1') })).toEqual(['a: ports_in_dag']);
    expect(dag({ a: set('1'), b: { ...set('{{ steps.a.output.data }}'), dependsOn: ['c'] } })).toEqual([
      'b: unknown_step',
    ]);
  });

  it('has no loop and, but in a rollback, no error', () => {
    expect(dag({ a: set('{{ loop.item }}'), b: set('{{ error.code }}') })).toEqual([
      'a: outside_loop',
      'b: not_in_dag',
    ]);
    const rollback = { stepType: 'http', config: { url: 'https://x.test/{{ error.code }}' } };
    expect(dag({ a: { ...set('1'), rollback } })).toEqual([]);
  });

  it('waits for steps that are named: others are warned of, unless dependsOn names some', () => {
    const warnings = (b: JsonObject, more: JsonObject = {}) =>
      warned({ a: set('1'), b }, { flow: 'dag', start: undefined as never, ...more });
    expect(warnings(set('{{ steps[input.k].output.data }}'))).toEqual(['b: unnamed_dependency']);
    expect(warnings(set('{{ steps|keys }}'))).toEqual(['b: unnamed_dependency']);
    expect(warnings({ ...set('{{ steps|keys }}'), dependsOn: ['a'] })).toEqual([]);
    expect(warnings(set('{{ steps.a.output.data }}'), { output: '{{ steps|keys }}' })).toEqual([]);
  });

  it('has modifiers that the other flow has not', () => {
    const a = { ...set('{{ item }} {{ index }}'), forEach: { items: [1] } };
    const rollback = { stepType: 'http', config: { url: 'https://x.test/{{ item }}' } };
    expect(dag({ a: { ...a, rollback } })).toEqual([]);
    for (const ofAll of [
      { when: 'item > 1' },
      { when: { ref: 'item.ok' } },
      { bail: 'index == 1' },
      { saveToState: { n: 'item' } },
      { forEach: { items: '{{ item.list }}' } },
    ])
      expect(dag({ a: { ...a, ...ofAll } }, { state: { n: 'number' } })).toEqual(['a: outside_iteration']);
    expect(found({ a: { ...set('1'), dependsOn: [], bail: true } })).toEqual(['a: only_in_dag', 'a: only_in_dag']);
  });
});

describe('a member of a root that the engine makes', () => {
  const loop = (until: string, body: string): JsonObject => ({
    l: { stepType: 'loop', config: { until }, nextSteps: { loop: 'a' } },
    a: { ...set(body, 'l') },
  });

  it('is warned of where the root never has it', () => {
    expect(warned(loop('loop.iteration >= 3', '{{ loop.itm }}'))).toEqual([
      'l: unknown_root_member',
      'a: unknown_root_member',
    ]);
    const { valid, warnings } = check({
      name: 'X',
      slug: 'x',
      start: 'a',
      steps: { a: set('{{ execution.trigger.typ }} {{ error.mesage }} {{ execution.startedat }}') },
    });
    expect(valid).toBe(true);
    expect(warnings.map(({ message, hint }) => `${message} ${hint}`)).toEqual([
      'Column 4: execution.trigger has no member "typ". Did you mean "type"?',
      'Column 32: error has no member "mesage". Did you mean "message"?',
      'Column 51: execution has no member "startedat". Did you mean "startedAt"?',
    ]);
  });

  it('is looked for in the loop around it, and not in values of any form', () => {
    const inner =
      '{{ loop.parent.parent.batch.items[0].x }} {{ loop.item.x.y }} {{ loop.carry.n }} {{ loop.items.length }}';
    expect(warned(loop('loop.state.iterations >= 3', inner))).toEqual([]);
    expect(warned(loop('loop.state.iteration >= 3', '{{ loop.parent.indx }}'))).toEqual([
      'l: unknown_root_member',
      'a: unknown_root_member',
    ]);
    const known =
      '{{ execution.trigger.metadata.any.thing }} {{ error.details.x.y }} {{ error.stepSlug }} {{ execution.id }}';
    expect(warned({ a: set(known) })).toEqual([]);
  });
});
