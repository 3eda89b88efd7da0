/** The size of a run's state: the estimate against the measured size, and steps whose values do not fit. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_BLOB_STATE_BYTES, MAX_STATE_BYTES } from '../../src/definition/document/limits.ts';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { advance, genesis } from '../../src/engine/advance.ts';
import { MAX_ACTIVATION_UNITS, spareOf } from '../../src/engine/state/limits.ts';
import { measure } from '../../src/engine/state/measure.ts';
import type { Command } from '../../src/engine/state/protocol.ts';
import { definitionBytes, restore, serialize } from '../../src/engine/state/serialize.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { Json } from '../../src/json/json.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { programOf } from '../support/program.ts';
import { http, text } from './large-runs.ts';
import { type EventWithoutTime, GENESIS, Player } from './player.ts';
import { perform, runToEnd, scripts } from './random-actions.ts';
import { definitions } from './random-definitions.ts';

const limited = (definition: Definition, dataBytes: number): Program => programOf(definition, () => dataBytes);

const truth = (program: Program, state: RunState): number => jsonBytes(serialize(program, state));

function start(
  steps: Definition['steps'],
  dataBytes = MAX_STATE_BYTES,
  input: Json = {},
  rest: Partial<Definition> = {},
) {
  const program = limited({ name: 'Large', slug: 'large', steps, ...rest }, dataBytes);
  const state = genesis(program, { ...GENESIS, input });
  let at = 1_000;
  const feed = (event: EventWithoutTime): Command[] => advance(program, state, { ...event, at: at++ });
  return { program, state, feed, first: feed({ type: 'started' }) };
}

/** Answers every effect as it comes, until the run has ended or waits; gives the ids of those that were made. */
function answering(run: ReturnType<typeof start>, data: (n: number) => Json): string[] {
  const made: string[] = [];
  const open: Command[] = [...run.first];
  for (let next = open.shift(); next !== undefined && run.state.ending === undefined; next = open.shift()) {
    if (next.type === 'yield') open.push(...run.feed({ type: 'continue' }));
    if (next.type !== 'run') continue;
    made.push(next.id);
    open.push(...run.feed({ type: 'completed', id: next.id, result: { data: data(made.length) } }));
  }
  return made;
}

/** Results that serialize.ts repeats, and results that it shares: as a whole, in part, and as texts. */
const sized = (n: number): Json => [n, { n }, { n, pad: text(60) }, [{ n, pad: text(70) }], text(1_100)][n] ?? null;

/** Plays random scripts, and checks the run at its start and after each of their lines, as long as it is open. */
function whatever(check: (program: Player['program'], state: Player['state']) => void, data?: typeof sized): void {
  fc.assert(
    fc.property(definitions, scripts, (definition, script) => {
      const player = new Player(programOf(definition));
      player.feed({ type: 'started' });
      if (!player.ended) check(player.program, player.state);
      for (const one of script) {
        perform(player, one, data);
        if (!player.ended) check(player.program, player.state);
      }
    }),
    { numRuns: 150 },
  );
}

describe('the estimate', () => {
  it('is measured and written alike before and after continue-as-new, whatever happens (E2)', () => {
    whatever((program, state) => {
      const carried = serialize(program, state);
      const restored = restore(JSON.parse(JSON.stringify(carried)) as Json);
      expect(measure(program, restored)).toEqual(measure(program, state));
      expect(serialize(program, restored)).toEqual(carried);
    }, sized);
  });

  it('is never below what continue-as-new would carry, whatever happens; nor is what is measured', () => {
    whatever((program, state) => {
      const bytes = truth(program, state);
      expect(state.bytes).toBeGreaterThanOrEqual(bytes);
      expect(measure(program, state).bytes).toBeGreaterThanOrEqual(bytes);
    });
  });

  it('decides alike after continue-as-new, also where hardly anything fits, and carries what fits (E2)', () => {
    fc.assert(
      fc.property(definitions, scripts, fc.integer({ min: 500, max: 6_000 }), (definition, script, room) => {
        const begun = programOf(definition);
        const limit = definitionBytes(begun) + room;
        const [plain, carried] = [false, true].map(
          (carries) =>
            new Player(
              programOf(definition, () => limit),
              { carries },
            ),
        );
        for (const player of [plain!, carried!]) player.feed({ type: 'started' });
        for (const one of script) {
          perform(plain!, one, sized);
          perform(carried!, one, sized);
          const configs = Object.values(plain!.state.openCommands).map((one) =>
            one.type === 'run' ? one.command.config : null,
          );
          if (plain!.state.ending === undefined)
            expect(truth(begun, plain!.state)).toBeLessThanOrEqual(room + spareOf(limit) + jsonBytes(configs));
        }
        for (const player of [plain!, carried!]) runToEnd(player);
        expect(carried!.commands).toEqual(plain!.commands);
        expect(carried!.trace).toEqual(plain!.trace);
      }),
      { numRuns: 75 },
    );
  });
});

const fetch: StepDefinition = { ...http({ query: { id: '{{ item.id }}' } }) };
const listOf = (count: number, bytes: number): Json =>
  Array.from({ length: count }, (_, id) => ({ id, pad: text(bytes) }));

describe('a step whose result does not fit', () => {
  it('fails its iteration, and the others of a forEach that continues go on', () => {
    const run = start(
      {
        all: {
          stepType: 'forEach',
          config: { items: '{{ input }}', concurrency: 4, onError: 'continue' },
          nextSteps: { item: 'get', done: 'done' },
        },
        get: fetch,
        done: { stepType: 'finish', config: { output: '{{ steps.all.output.meta.errors }}' } },
      },
      MAX_STATE_BYTES,
      listOf(60, 1_000),
    );
    const made = answering(run, (n) => text(100_000) + n);
    expect(run.state.ending).toMatchObject({ status: 'completed' });
    const errors = (run.state.ending as unknown as { output: { index: number; error: { code: string } }[] }).output;
    expect(made.length).toBe(60);
    expect(errors.length).toBeGreaterThan(40);
    expect(errors[0]).toMatchObject({
      error: { code: 'state_too_large', retryable: true, details: { limit: MAX_STATE_BYTES } },
    });
  });

  it('goes by its error port, changes nothing that it would have saved, and can be tried again', () => {
    const run = start(
      {
        fill: { stepType: 'set', config: { values: { kept: '{{ input.text + 1 }}' } }, nextSteps: { success: 'get' } },
        get: { ...http(), saveToState: 'last', outputVariable: 'last', nextSteps: { error: 'tell' } },
        tell: {
          stepType: 'finish',
          config: { output: ['{{ error.code }}', '{{ error.retryable }}', '{{ state.last }}', '{{ kept.length }}'] },
        },
      },
      MAX_STATE_BYTES,
      { text: text(700_000) },
      { state: { last: { type: 'string', default: 'before' } } },
    );
    expect(answering(run, () => text(600_000))).toEqual(['get']);
    expect(run.state.ending).toMatchObject({
      status: 'completed',
      output: ['state_too_large', true, 'before', 700_001],
    });
    expect(run.state.outputs).toEqual({});
  });

  it('fails the run at its path where nothing catches it, so that a retry knows where to go on', () => {
    const run = start(
      { fill: { stepType: 'set', config: { values: { a: '{{ input.text + 1 }}', b: '{{ input.text + 2 }}' } } } },
      MAX_STATE_BYTES,
      { text: text(700_000) },
    );
    expect(run.state.ending).toMatchObject({
      status: 'failed',
      error: { code: 'state_too_large', path: 'fill', retryable: true },
    });
  });

  it('leaves what is to be undone as it was, also in a loop that keeps the last tick only', () => {
    const run = start(
      {
        each: {
          stepType: 'loop',
          config: { items: [1, 2], historyKeep: 1 },
          nextSteps: { loop: 'get', done: 'never' },
        },
        get: {
          ...http({ query: { length: '{{ input.text | length }}' } }),
          rollback: http({ query: { undo: '{{ loop.item }}' } }),
          nextSteps: { error: 'hear' },
        },
        hear: { stepType: 'listen', config: { name: 'never' } },
        never: { stepType: 'fail' },
      },
      MAX_STATE_BYTES,
      { text: text(1_200_000) },
    );
    expect(answering(run, (n) => text(n === 1 ? 1 : 700_000))).toEqual(['each~0/get', 'each~1/get']);
    expect(run.state.frames['']!.error).toMatchObject({ code: 'state_too_large', path: 'each~1/get' });
    expect(run.state.rollbackSteps).toMatchObject([{ path: 'each~0/get' }]);
  });

  it('is not asked for where not even a short answer would fit', () => {
    const run = start(
      {
        fill: {
          stepType: 'set',
          config: { values: { kept: '{{ input.text + 1 }}' } },
          nextSteps: { success: 'all' },
        },
        all: {
          stepType: 'forEach',
          config: { items: [1, 2, 3], onError: 'continue' },
          nextSteps: { item: 'get' },
        },
        get: http(),
      },
      MAX_STATE_BYTES,
      { text: text(899_000) },
    );
    expect(answering(run, () => 1)).toEqual([]);
    expect(run.state.ending).toMatchObject({ status: 'completed', output: [null, null, null] });
  });

  it.each([
    [
      'forEach',
      {
        stepType: 'forEach',
        config: { items: '{{ [input.text + "1", input.text + "2"] }}' },
        nextSteps: { item: 'x', error: 'tell' },
      },
    ],
    [
      'loop',
      {
        stepType: 'loop',
        config: { items: '{{ [input.text + "1", input.text + "2"] }}' },
        nextSteps: { loop: 'x', error: 'tell' },
      },
    ],
  ] as [string, StepDefinition][])('is refused as a %s before it begins', (_, step) => {
    const run = start(
      {
        big: step,
        x: { stepType: 'checkpoint' },
        tell: { stepType: 'finish', config: { output: '{{ error.code }}' } },
      },
      400_000,
      { text: text(150_000) },
    );
    expect(run.first.filter(({ type }) => type === 'run')).toEqual([]);
    expect(run.state.ending).toMatchObject({ status: 'completed' });
    expect((run.state.ending as unknown as { output: Json }).output).toMatch(/state_too_large|expression_limit/);
  });
});

it('refuses an effect before it is made where its config does not fit into the state', () => {
  const run = start(
    {
      send: { ...http({ body: '{{ [input.text + 1, input.text + 2] }}' }), nextSteps: { error: 'tell' } },
      tell: { stepType: 'finish', config: { output: '{{ error.code }}' } },
    },
    2_000_000,
    { text: text(800_000) },
  );
  expect(run.first.filter(({ type }) => type === 'run')).toEqual([]);
  expect(run.state.ending).toMatchObject({ status: 'completed', output: 'state_too_large' });
});

describe('a full run', () => {
  it('drops no message for what has been replaced, however much the activation has done', () => {
    const run = start({ hear: { stepType: 'listen', config: { name: 'go' } } });
    run.state.bytes = MAX_STATE_BYTES;
    Object.assign(run.state.activation, { at: 5_000, units: MAX_ACTIVATION_UNITS });
    advance(run.program, run.state, { type: 'message', name: 'later', payload: 1, at: 5_000 });
    expect(run.state.inbox).toHaveLength(1);
    expect(run.state.bytes).toBeLessThan(10_000);
  });

  it.each([
    ['one message', {}, 900_000, 0, 1],
    ['many messages', { count: 100 }, 200_000, 2, 1],
  ])('fails a listener that takes more than fits, of %s, and goes on', (_, many, bytes, kept, dropped) => {
    const run = start(
      {
        hear: { stepType: 'listen', config: { name: 'big', ...many }, nextSteps: { error: 'rest' } },
        rest: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'end' } },
        end: { stepType: 'finish', config: { output: ['{{ error.code }}', '{{ input.text | length }}'] } },
      },
      MAX_STATE_BYTES,
      { text: text(1_200_000) },
    );
    for (let n = 0; n <= kept; n++) run.feed({ type: 'message', name: 'big', payload: `${n}${text(bytes)}` });
    expect(run.state).toMatchObject({ droppedCount: dropped });
    expect(run.state.inbox).toHaveLength(kept);
    run.feed({ type: 'message', name: 'go', payload: null });
    expect(run.state.ending).toEqual({ status: 'completed', output: ['state_too_large', 1_200_000] });
  });

  it('drops messages that do not fit into its state, and counts them', () => {
    const run = start(
      {
        hear: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'end' } },
        end: { stepType: 'finish', config: { output: '{{ input.text | length }}' } },
      },
      MAX_STATE_BYTES,
      { text: text(1_200_000) },
    );
    for (let n = 0; n < 4; n++) run.feed({ type: 'message', name: 'later', payload: `${n}${text(190_000)}` });
    for (let n = 0; n < 80; n++) run.feed({ type: 'message', name: 'later', payload: text(900) });
    expect(run.state.ending).toBeUndefined();
    expect(run.state.droppedCount).toBeGreaterThan(2);
    expect(definitionBytes(run.program) + truth(run.program, run.state)).toBeLessThanOrEqual(MAX_STATE_BYTES);
    expect(run.state.inbox.length + run.state.droppedCount!).toBe(84);
    run.feed({ type: 'message', name: 'go', payload: null });
    expect(run.state.ending).toEqual({ status: 'completed', output: 1_200_000 });
  });

  it('weighs what an iteration holds a few times, however many follow', () => {
    const run = start(
      {
        all: {
          stepType: 'forEach',
          config: { items: '{{ input.list }}', concurrency: 10, onError: 'continue' },
          nextSteps: { item: 'get' },
        },
        get: http(),
      },
      MAX_BLOB_STATE_BYTES,
      { list: Array.from({ length: 200 }, (_, i) => i) },
    );
    let reads = 0;
    const large: { i: number; name: string }[] = Array.from({ length: 5_000 }, (_, i) => ({ i, name: `name ${i}` }));
    large[7] = {
      i: 7,
      get name() {
        reads++;
        return 'name 7';
      },
    };
    answering(run, () => [...large]);
    expect(run.state.ending).toMatchObject({ status: 'completed' });
    expect(reads).toBeLessThan(20 * 200);
    expect(truth(run.program, run.state)).toBeLessThan(MAX_BLOB_STATE_BYTES + spareOf(MAX_BLOB_STATE_BYTES));
  });

  it('of 15 MB is carried and restored as it was', () => {
    const run = start(
      {
        get: { ...http(), nextSteps: { success: 'hear' } },
        hear: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'end' } },
        end: { stepType: 'finish', config: { output: '{{ steps.get.output.data|length }}' } },
      },
      MAX_BLOB_STATE_BYTES,
    );
    run.feed({ type: 'completed', id: 'get', result: { data: text(15_000_000) } });
    run.feed({ type: 'continue' });
    const state = restore(JSON.parse(JSON.stringify(serialize(run.program, run.state))) as Json);
    advance(run.program, state, { type: 'message', name: 'go', payload: null, at: 5_000 });
    expect(state.ending).toMatchObject({ status: 'completed', output: 15_000_000 });
  });
});
