import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import type { TraceEvent } from '../../src/engine/state/protocol.ts';
import { programOf } from '../support/program.ts';
import { rootReferences, withRoots } from './full-roots.ts';
import { Player } from './player.ts';
import { perform, runToEnd, scripts } from './random-actions.ts';
import { definitions } from './random-definitions.ts';

const programs = fc.tuple(definitions, rootReferences).map(([definition, chosen]) => withRoots(definition, chosen));

function started(definition: Definition, carries = false): Player {
  const player = new Player(programOf(definition), { carries });
  player.feed({ type: 'started' });
  return player;
}

function ran(steps: Definition['steps'], more: Partial<Definition> = {}, carries = false): Player {
  const start = Object.keys(steps)[0]!;
  const player = started({ name: 'Roots', slug: 'roots', start, steps, ...more }, carries);
  runToEnd(player);
  return player;
}

const outputOf = (player: Player, path: string): unknown =>
  player.trace.find((line) => line.t === 'end' && line.path === path && line.status === 'completed');

describe('a full root', () => {
  it('that a variable keeps is what it was: it never holds itself, and does not change later', () => {
    const player = ran({
      one: { stepType: 'set', config: { values: { kept: '{{ variables }}' } }, nextSteps: { success: 'two' } },
      two: { stepType: 'set', config: { values: { x: 2 } }, nextSteps: { success: 'end' } },
      end: { stepType: 'finish', config: { output: '{{ variables }}' } },
    });
    expect(player.state.ending).toEqual({ status: 'completed', output: { kept: {}, x: 2 } });
    expect(outputOf(player, 'one')).toMatchObject({ output: { data: { kept: {} } } });
  });

  it.each(['steps', 'outputs', 'state', 'variables'])('{{ %s }} is a snapshot wherever it is stored', (root) => {
    const whole = `{{ ${root} }}`;
    const steps: Definition['steps'] = {
      a: { stepType: 'set', config: { values: { v: 1 } }, outputVariable: 'a', nextSteps: { success: 'b' } },
      b: { stepType: 'mapping', config: { output: whole }, outputVariable: 'b', nextSteps: { success: 'c' } },
      c: { stepType: 'set', config: { target: 'state', values: { kept: whole } }, nextSteps: { success: 'd' } },
      d: { stepType: 'set', config: { values: whole }, nextSteps: { success: 'e' } },
      e: { stepType: 'set', config: { values: { v: 2, kept: { in: [whole] } } }, nextSteps: { success: 'f' } },
      f: { stepType: 'mapping', config: { output: whole }, outputVariable: 'f' },
    };
    const more: Partial<Definition> = { output: { all: whole, b: '{{ steps.b.output.data }}' } };
    const [plain, carried] = [ran(steps, more), ran(steps, more, true)];
    expect(plain.state.ending).toMatchObject({ status: 'completed' });
    expect(carried.state.ending).toEqual(plain.state.ending);
    expect(JSON.stringify(plain.state.ending)).toBe(JSON.stringify(carried.state.ending));
    const first = { steps: ['a'], outputs: ['a'], state: [], variables: ['v'] }[root]!;
    const { output } = plain.state.ending as unknown as { output: { b: object } };
    expect(Object.keys(output.b)).toEqual(first);
  });

  it('of a branch reads its own frame and those around it, as they were', () => {
    const player = ran({
      a: { stepType: 'mapping', config: { output: 1 }, nextSteps: { success: 'both' } },
      both: { stepType: 'parallel', nextSteps: { l: 'left', r: 'right', done: 'end' } },
      left: { stepType: 'mapping', config: { output: '{{ steps }}' }, nextSteps: { success: 'after' } },
      after: { stepType: 'mapping', config: { output: '{{ steps|keys|sort }}' } },
      right: { stepType: 'mapping', config: { output: '{{ steps|keys|sort }}' } },
      end: { stepType: 'finish', config: { output: '{{ [steps.left.output.data|keys, steps.both.output.data] }}' } },
    });
    expect(player.state.ending).toMatchObject({ output: [['a'], { l: ['a', 'left'], r: ['a'] }] });
  });

  it('that grows with every round ends as a typed failure, not as a value that nobody can read', () => {
    const player = ran({
      again: { stepType: 'set', config: { values: { a: '{{ variables }}' } }, nextSteps: { success: 'again' } },
    });
    expect(player.state.ending).toMatchObject({ status: 'failed', error: { code: 'expression_limit' } });
    const both = ran({
      again: {
        stepType: 'set',
        config: { values: { a: '{{ variables }}', b: '{{ variables }}' } },
        nextSteps: { success: 'again' },
      },
    });
    expect(both.state.ending).toMatchObject({
      status: 'failed',
      error: { code: expect.stringMatching(/^(expression_limit|result_too_large|state_too_large)$/) },
    });
    const deeper = ran({
      again: {
        stepType: 'mapping',
        config: { output: { a: { b: { c: ['{{ steps }}'] } } } },
        nextSteps: { success: 'again' },
      },
    });
    expect(deeper.state.ending).toMatchObject({ status: 'failed', error: { code: 'expression_limit' } });
    for (const { state } of [player, both, deeper]) expect(() => JSON.stringify(state)).not.toThrow();
  });

  it('dotted names of variables and state are read as before', () => {
    const player = ran({
      a: { stepType: 'set', config: { values: { 'customer.name': 'Zoë' } }, nextSteps: { success: 'b' } },
      b: { stepType: 'finish', config: { output: '{{ [variables.customer.name, variables["customer.name"]] }}' } },
    });
    expect(player.state.ending).toMatchObject({ output: ['Zoë', 'Zoë'] });
  });
});

const DEEP_MS = 120_000;

it(
  'whole roots at random places: what was told never changes, and continue-as-new changes nothing (E2)',
  () => {
    fc.assert(
      fc.property(programs, scripts, (definition, script) => {
        const told: { line: TraceEvent; text: string }[] = [];
        const [plain, carried] = [started(definition), started(definition, true)];
        const note = () => {
          for (const line of plain.trace.slice(told.length)) told.push({ line, text: JSON.stringify(line) });
        };
        note();
        for (const one of script) {
          perform(plain, one);
          note();
          perform(carried, one);
        }
        for (const player of [plain, carried]) runToEnd(player);
        for (const { line, text } of told) expect(JSON.stringify(line)).toBe(text);
        expect(carried.commands).toEqual(plain.commands);
        expect(carried.trace).toEqual(plain.trace);
        expect(carried.state.ending).toEqual(plain.state.ending);
        expect([carried.state.variables, carried.state.state]).toEqual([plain.state.variables, plain.state.state]);
      }),
      { numRuns: 300 },
    );
  },
  DEEP_MS,
);
