import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import { type Conversion, toCanonical } from '../../src/compat/dialects.ts';
import { simulate } from '../../src/engine/simulate.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { programOf } from '../support/program.ts';

const written = (flow: JsonObject, starting_step_id = 's') => ({ name: 'Walk', flow, starting_step_id });

function imported(flow: JsonObject, starting?: string): Conversion {
  return toCanonical(written(flow, starting));
}

/** What a run of the document gives for the payload. */
function walk(flow: JsonObject, input: Json): Json | undefined {
  const { definition, problems } = imported(flow);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  const program = programOf(definition);
  const genesis = { executionId: 'r', organizationId: 'default', presets: {}, trigger: { type: 'manual' } };
  return simulate(program, {
    genesis: { ...genesis, input, depth: 0, startedAt: 0 },
    effect: () => ({ result: { data: null } }),
    serializesAlways: true,
    maxEvents: 1000,
  }).output;
}

const start = (next: string) => ({ type: 'starting_step', next });
const mapping = (output: Json, next: string) => ({ type: 'mapping', config: { mapping: output }, next });
const asks = (asked: string, yes: string, otherwise: string) => ({
  type: 'condition',
  branches: [{ name: 'yes', condition: asked, next: yes }],
  default: otherwise,
});
const finish = { type: 'finish', config: { output: '{{input.v}}' } };

/** a → c → (even) b → d → (true) g → f; both conditions lead to f otherwise. */
const forked = {
  s: start('a'),
  a: mapping({ v: 'A', n: '{{ input.n }}' }, 'c'),
  c: asks('{{ input.n }} > 0', 'b', 'f'),
  b: mapping({ v: 'B', n: '{{ input.n }}' }, 'd'),
  d: asks('{{ input.n }} > 1', 'g', 'f'),
  g: mapping({ v: 'G' }, 'f'),
  f: finish,
};

describe('the input of a step of alloy that several others come before', () => {
  it.each([
    [0, 'A'],
    [1, 'B'],
    [2, 'G'],
  ])('is the output of the one that the walk comes from, with conditions between (%j: %s)', (n, v) => {
    expect(walk(forked, { n })).toBe(v);
  });

  it('is that of the step before in every pass through a cycle', () => {
    const counting = {
      s: start('l'),
      l: mapping({ v: '{{ input.v + 1 }}' }, 'c'),
      c: asks('{{ input.v }} < 3', 'l', 'f'),
      f: finish,
    };
    expect(walk(counting, { v: 0 })).toBe(3);
    expect(check(written(counting)).problems).toEqual([]);
  });

  it('is lastOutput where no condition stands between', () => {
    const joined = {
      s: start('c'),
      c: asks('{{ input.n }} > 0', 'a', 'b'),
      a: mapping({ v: 'A' }, 'm'),
      b: mapping({ v: 'B' }, 'm'),
      m: mapping({ v: 'M{{ input.v }}' }, 'f'),
      f: finish,
    };
    expect([walk(joined, { n: 1 }), walk(joined, { n: 0 })]).toEqual(['MA', 'MB']);
    expect(imported(joined).definition?.steps).toMatchObject({
      m: { config: { output: { v: 'M{{ lastOutput.data.v }}' } } },
      f: { config: { output: '{{steps.m.output.data.v}}' } },
    });
  });

  it.each([
    [1, 'A'],
    [0, 'B'],
  ])('is what saveToState reads, though it is asked at the end of its step (%j: %s)', (n, v) => {
    const saving = (saved: string) => ({
      s: start('c'),
      c: asks('{{ input.n }} > 0', 'a', 'b'),
      a: mapping({ v: 'A' }, 'm'),
      b: mapping({ v: 'B' }, 'm'),
      m: { ...mapping({ v: 'M' }, 'o'), saveToState: { seen: saved } },
      o: mapping({ v: '{{ state.seen }}' }, 'f'),
      f: finish,
    });
    expect([walk(saving('input.v'), { n }), walk(saving('{{ input.v }}'), { n })]).toEqual([v, v]);
    const alone = { s: start('a'), a: { ...mapping({ v: 'A' }, 'f'), saveToState: { n: 'input.n' } }, f: finish };
    expect(imported(alone).definition?.steps['a']?.saveToState).toEqual({ n: 'steps.s.output.data.n' });
  });

  it.each<[string, JsonObject, string]>([
    [
      'of those between which a failure may come',
      { ...forked, b: { ...forked.b, onError: 'continue' } },
      '/flow/f/config',
    ],
    ['beside steps that run side by side', { ...forked, p: { type: 'parallel' } }, '/flow/f/config'],
  ])('is reported where it cannot be told: %s', (_, flow, pointer) => {
    expect(imported(flow).warnings).toMatchObject([{ code: 'not_carried_over', pointer }]);
  });

  it('is reported where the run itself begins with the step', () => {
    const ring = { l: mapping({ v: '{{ input.v }}' }, 'c'), c: asks('{{ input.v }} < 3', 'l', 'f'), f: finish };
    expect(imported(ring, 'l').warnings).toMatchObject([{ code: 'not_carried_over', pointer: '/flow/l/config' }]);
  });
});
