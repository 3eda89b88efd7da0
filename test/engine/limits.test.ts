import { describe, expect, it } from 'vitest';
import type { Definition, StepDefinition } from '../../src/definition/types.ts';
import { advance, genesis } from '../../src/engine/advance.ts';
import { carry, restore } from '../../src/engine/carry.ts';
import {
  MAX_ACTIVATION_BYTES,
  MAX_INBOX_BYTES,
  MAX_OPEN_EFFECTS,
  MAX_STATE_BYTES,
  REMEMBERED_IDS,
} from '../../src/engine/limits.ts';
import type { Command, Event } from '../../src/engine/protocol.ts';
import type { RunState } from '../../src/engine/state.ts';
import { statusOf, unread } from '../../src/engine/view.ts';
import { weigh } from '../../src/engine/weigh.ts';
import { compile } from '../../src/steps/program.ts';
import type { Program } from '../../src/steps/program-types.ts';
import type { Json } from '../../src/template/types.ts';
import { GENESIS, Player } from './player.ts';

const LONG_MS = 60_000;

interface Run {
  readonly program: Program;
  readonly state: RunState;
  readonly feed: (event: Omit<Event, 'at'>) => Command[];
}

function start(
  steps: Definition['steps'],
  input: Json = {},
  config: Definition['config'] = {},
): Run & { first: Command[] } {
  const compiled = compile({ name: 'Large', slug: 'large', config, steps });
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  const { program } = compiled;
  const state = genesis(program, { ...GENESIS, input });
  let at = 1_000;
  const feed = (event: Omit<Event, 'at'>) => advance(program, state, { ...event, at: at++ } as Event);
  return { program, state, feed, first: feed({ type: 'started' } as Event) };
}

function message(name: string, payload: Json, id?: string): Omit<Event, 'at'> {
  return { type: 'message', name, payload, ...(id === undefined ? {} : { id }) } as Omit<Event, 'at'>;
}

const completed = (id: string) => ({ type: 'completed', id, result: { data: 1 } }) as Omit<Event, 'at'>;
const carried = ({ program, state }: Run): number => JSON.stringify(carry(program, state)).length;
const http = (config = {}): StepDefinition => ({
  stepType: 'http',
  config: { url: 'https://example.test', ...config },
});
const text = (bytes: number): string => 'x'.repeat(bytes);
const listening: Definition['steps'] = { hear: { stepType: 'listen', config: { name: 'other' } } };

describe('limits', () => {
  it(
    'has at most 500 commands open; the others wait, and go out in order as answers come',
    () => {
      const items = Array.from({ length: 2_000 }, (_, i) => i);
      const run = start({
        each: { stepType: 'forEach', config: { items, concurrency: 500 }, nextSteps: { item: 'call' } },
        call: http(),
      });
      const open: string[] = [];
      const begun: string[] = [];
      let most = 0;
      const heed = (commands: readonly Command[]) => {
        for (const command of commands) if (command.type === 'run') begun.push(command.id);
        open.push(...commands.flatMap((command) => (command.type === 'run' ? [command.id] : [])));
        most = Math.max(most, open.length);
      };
      heed(run.first);
      while (open.length > 0) heed(run.feed(completed(open.shift()!)));
      expect(most).toBe(MAX_OPEN_EFFECTS);
      expect(begun).toEqual(items.map((i) => `each[${i}]/call`));
      expect(run.state.ending).toMatchObject({ status: 'completed' });
    },
    LONG_MS,
  );

  it(
    'walks 2,000 iterations at once with 500 commands open, and can carry them at any moment',
    () => {
      const items = Array.from({ length: 5_000 }, (_, i) => i);
      const run = start({
        each: { stepType: 'forEach', config: { items, concurrency: 2_000 }, nextSteps: { item: 'call' } },
        call: http({ query: { item: '{{ item }}' } }),
      });
      const open: string[] = [];
      let most = 0;
      const heed = (commands: readonly Command[]) => {
        for (const command of commands) if (command.type === 'run') open.push(command.id);
        most = Math.max(most, open.length);
      };
      heed(run.first);
      expect(Object.keys(run.state.open)).toHaveLength(2_000);
      for (let answered = 0; open.length > 0; answered++) {
        if (answered % 1_000 === 0) expect(carried(run)).toBeLessThan(MAX_STATE_BYTES);
        heed(run.feed(completed(open.shift()!)));
      }
      expect(most).toBe(MAX_OPEN_EFFECTS);
      expect(run.state.ending).toMatchObject({ status: 'completed' });
    },
    LONG_MS,
  );

  it('holds back what goes over that with several containers open, and cancels it with them', () => {
    const items = Array.from({ length: 40 }, (_, i) => i);
    const each = (next: string): StepDefinition => ({
      stepType: 'forEach',
      config: { items, concurrency: 500 },
      nextSteps: { item: next },
    });
    const run = start({ outer: each('inner'), inner: each('call'), call: http() });
    expect(run.first.filter(({ type }) => type === 'run')).toHaveLength(MAX_OPEN_EFFECTS);
    expect(run.state.backlog).toHaveLength(1_600 - MAX_OPEN_EFFECTS);
    const late = run.feed(completed(run.state.backlog[0]!));
    expect(late, 'what was not sent has no answer').toEqual([]);
    const failed = run.feed({
      type: 'failed',
      id: 'outer[0]/inner[0]/call',
      error: { code: 'x', message: 'x', retryable: false },
    } as Event);
    expect(failed.filter(({ type }) => type === 'cancel')).toHaveLength(MAX_OPEN_EFFECTS - 1);
    expect(run.state).toMatchObject({ openCount: 0, backlog: [], effects: 0, ending: { status: 'failed' } });
  });

  it('sends at most 1.5 MB of commands in one activation, and gives way for the rest', () => {
    const branches = Array.from({ length: 30 }, (_, i) => `b${i}`);
    const run = start(
      {
        all: { stepType: 'parallel', nextSteps: Object.fromEntries(branches.map((name) => [name, name])) },
        ...Object.fromEntries(branches.map((name) => [name, http({ body: '{{ input }}' })])),
      },
      text(100_000),
    );
    const sent: number[] = [];
    for (let commands = run.first; ; commands = run.feed({ type: 'continue' } as Event)) {
      expect(weigh(commands as unknown as Json)).toBeLessThan(MAX_ACTIVATION_BYTES + 10_000);
      sent.push(commands.filter(({ type }) => type === 'run').length);
      if (!commands.some(({ type }) => type === 'yield')) break;
    }
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.reduce((a, b) => a + b)).toBe(30);
  });

  it(
    'walks 100,000 ticks of pure steps in turns, and carries no more at the end than at the beginning (§2.5)',
    () => {
      const run = start(
        {
          each: { stepType: 'loop', config: { items: '{{ input }}' }, nextSteps: { loop: 'add' } },
          add: { stepType: 'set', config: { values: { sum: '{{ sum + loop.item }}' } } },
        },
        Array.from({ length: 100_000 }, () => 1),
        { variables: { sum: 0 } },
      );
      const sizes: number[] = [];
      let commands = run.first;
      for (; commands.some(({ type }) => type === 'yield'); commands = run.feed({ type: 'continue' } as Event)) {
        expect(statusOf(run.state)).toBe('running');
        if (sizes.length % 3 === 0) sizes.push(carried(run));
        else sizes.push(sizes.at(-1)!);
      }
      expect(sizes.length).toBeGreaterThan(3);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(1_000);
      expect(run.state.variables['sum']).toBe(100_000);
      expect(run.state.ending).toMatchObject({ status: 'completed' });
    },
    LONG_MS,
  );

  it('fails a run whose unread messages are too many, with size and limit', () => {
    const run = start(listening);
    for (let i = 0; i < 9; i++) run.feed(message('news', text(110_000)));
    expect(unread(run.state)).toBe(9);
    expect(statusOf(run.state)).toBe('waiting');
    run.feed(message('news', text(110_000)));
    expect(run.state.ending).toMatchObject({
      status: 'failed',
      error: { code: 'inbox_overflow', details: { limit: MAX_INBOX_BYTES, unread: 10 } },
    });
  });

  it(
    'counts a message that says nothing, too: what is carried stays below the limit',
    () => {
      const run = start(listening);
      for (let i = 0; i < 20_000 && run.state.ending === undefined; i++) run.feed(message('n', null));
      expect(unread(run.state)).toBeGreaterThan(10_000);
      expect(carried(run)).toBeLessThan(MAX_STATE_BYTES);
    },
    LONG_MS,
  );

  it('reads through ten thousand messages that nobody wants to as many that somebody does', () => {
    const many = 9_000;
    const run = start({
      go: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'take' } },
      take: {
        stepType: 'listen',
        config: { name: 'n', count: many, match: 'payload % 2 == 0' },
        nextSteps: { received: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.take.output.data }}' } },
    });
    for (let n = 0; n < 2 * many; n++) run.feed(message('n', n));
    const begun = performance.now();
    // Looked at once each, and counted as if anew for each that is taken: where a run gives way is part of its history.
    expect(run.feed(message('go', null))).toContainEqual({ type: 'yield' });
    run.feed({ type: 'continue' } as Omit<Event, 'at'>);
    expect(performance.now() - begun).toBeLessThan(4_000);
    expect(run.state.ending).toEqual({ status: 'completed', output: Array.from({ length: many }, (_, n) => 2 * n) });
    expect(unread(run.state)).toBe(many);
  });

  it('remembers a thousand ids of messages, and none of them at length', () => {
    const run = start(listening);
    for (let i = 0; i < REMEMBERED_IDS + 10; i++) run.feed(message('other2', 1, `${i}${text(1_000)}`));
    expect(run.state.seen).toHaveLength(REMEMBERED_IDS);
    expect(weigh(run.state.seen)).toBeLessThan(250 * REMEMBERED_IDS);
    expect(unread(run.state)).toBe(REMEMBERED_IDS + 10);
    run.feed(message('other2', 1, `${REMEMBERED_IDS}${text(1_000)}`));
    expect(unread(run.state)).toBe(REMEMBERED_IDS + 10);
  });

  it('refuses an input over the limit, and one that is nested too deeply', () => {
    expect(start(listening, text(2_000_000)).state.ending).toMatchObject({ error: { code: 'payload_too_large' } });
    let deep: Json = 1;
    for (let i = 0; i < 50_000; i++) deep = [deep];
    expect(start(listening, deep).state.ending).toMatchObject({ error: { code: 'value_too_deep' } });
    const run = start(listening);
    run.feed(message('other', deep));
    expect(run.state.ending).toMatchObject({ error: { code: 'value_too_deep' } });
  });

  it(
    'ends by a typed error where values grow by themselves',
    () => {
      const grow = (next: Json) =>
        start({
          grow: {
            stepType: 'loop',
            config: { while: 'true', initial: 'x', next, maxIterations: 100_000 },
            nextSteps: { loop: 'work' },
          },
          work: { stepType: 'checkpoint' },
        });
      for (const next of [
        '{{ loop.carry + loop.carry }}',
        { again: '{{ loop.carry }}' },
        ['{{ loop.carry }}', '{{ loop.carry }}'],
      ]) {
        const run = grow(next);
        for (let i = 0; i < 1_000 && run.state.ending === undefined; i++) run.feed({ type: 'continue' } as Event);
        expect(run.state.ending).toMatchObject({
          status: 'failed',
          error: { code: expect.stringMatching(/state_too_large|value_too_deep|expression_limit/) },
        });
      }
    },
    LONG_MS,
  );
});

describe('room for 500 commands', () => {
  /** Feeds the timer that is due first, and lets the clock stand there. */
  function world(steps: Definition['steps']) {
    const compiled = compile({ name: 'Full', slug: 'full', steps });
    if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
    const player = new Player(compiled.program);
    player.feed({ type: 'started' });
    return player;
  }
  const many = (count: number) => Array.from({ length: count }, (_, i) => i);
  const each = (count: number, item: string, more: Partial<StepDefinition> = {}): StepDefinition => ({
    stepType: 'forEach',
    config: { items: many(count), concurrency: 500 },
    nextSteps: { item, ...more.nextSteps },
  });

  it(
    'keeps the timers open that are due first, so that none is late',
    () => {
      const player = world({
        both: { stepType: 'parallel', nextSteps: { long: 'each', short: 'first' } },
        each: each(500, 'review'),
        review: {
          stepType: 'approval',
          config: { message: 'Well?', timeout: '30d', reminders: ['10d'] },
          nextSteps: { timeout: 'each' },
        },
        first: { stepType: 'sleep', config: { duration: '1d' }, nextSteps: { success: 'second' } },
        second: { stepType: 'sleep', config: { duration: '1d' } },
      });
      // A thousand timers of the approvals, and the one of the sleep.
      expect([player.open.size, player.state.backlog.length]).toEqual([500, 501]);
      const fired: [string, number][] = [];
      while (!player.ended && fired.length < 2_000) {
        const [timer] = [...player.open.values()].filter((one) => one.type === 'timer').sort((a, b) => a.at - b.at);
        if (timer === undefined) break;
        player.fire(timer.id);
        fired.push([timer.id, player.at - timer.at]);
      }
      expect(fired.slice(0, 2)).toEqual([
        ['both/short/first', 0],
        ['both/short/second', 0],
      ]);
      expect(fired.filter(([, late]) => late > 0)).toEqual([]);
      expect(fired).toHaveLength(1_002);
    },
    LONG_MS,
  );

  it(
    'lets effects go before timers that are due later',
    () => {
      const player = world({
        each: each(500, 'review'),
        review: {
          stepType: 'approval',
          config: { message: 'Well?', timeout: '30d', reminders: ['10d'] },
          nextSteps: { approved: 'pay' },
        },
        pay: http(),
      });
      for (let i = 0; i < 500; i++) {
        player.feed({ type: 'decide', decision: 'approved', via: 'temporal', step: `each[${i}]/review` });
        if (i < MAX_OPEN_EFFECTS) expect(player.open.has(`each[${i}]/pay`)).toBe(true);
      }
      for (let i = 0; i < 500; i++) player.feed({ type: 'completed', id: `each[${i}]/pay`, result: { data: i } });
      expect(player.state.ending).toMatchObject({ status: 'completed' });
    },
    LONG_MS,
  );

  it(
    'lets an effect and a timer go although a thousand effects wait',
    () => {
      const player = world({
        both: { stepType: 'race', nextSteps: { work: 'outer', clock: 'limit', done: 'tell' } },
        outer: each(10, 'inner'),
        inner: each(100, 'call'),
        call: http(),
        limit: { stepType: 'sleep', config: { duration: '1m' } },
        tell: http(),
      });
      expect([player.open.size, player.open.has('both/clock/limit')]).toEqual([MAX_OPEN_EFFECTS + 1, true]);
      player.fire();
      expect([...player.open.keys()]).toEqual(['tell']);
    },
    LONG_MS,
  );
});

describe('what is carried', () => {
  it('writes a value once, however often it is referred to', () => {
    const rows = Array.from({ length: 500 }, (_, i) => ({ id: i, text: text(200) }));
    const run = start(
      {
        start: { stepType: 'trigger', nextSteps: { success: 'rows' } },
        rows: { stepType: 'loop', config: { items: '{{ input }}' }, nextSteps: { loop: 'each' } },
        each: {
          stepType: 'forEach',
          config: { items: '{{ loop.items }}', concurrency: 500 },
          nextSteps: { item: 'keep' },
        },
        keep: { stepType: 'mapping', config: { output: '{{ item }}' }, nextSteps: { success: 'call' } },
        call: http(),
      },
      rows,
    );
    expect(run.state.openCount).toBe(MAX_OPEN_EFFECTS);
    const once = weigh(rows);
    // 500 frames and commands of their own, besides the rows.
    expect(carried(run)).toBeLessThan(once + 500 * 1_500);
    const again = restore(JSON.parse(JSON.stringify(carry(run.program, run.state))));
    expect(JSON.stringify(carry(run.program, again))).toBe(JSON.stringify(carry(run.program, run.state)));
  });

  it('keeps data that looks like a reference, or like a prototype', () => {
    const odd = JSON.parse(
      '{"$shared": 0, "list": [{"$shared": 1}, {"$shared": {"$shared": 0}}], "__proto__": {"a": 1}}',
    ) as Json;
    const run = start(
      {
        start: { stepType: 'trigger', nextSteps: { success: 'keep' } },
        keep: {
          stepType: 'set',
          config: { values: { odd: '{{ input }}', same: '{{ input.list }}' } },
          nextSteps: { success: 'wait' },
        },
        wait: { stepType: 'sleep', config: { duration: '1h' } },
      },
      odd,
    );
    const again = restore(JSON.parse(JSON.stringify(carry(run.program, run.state))));
    expect(JSON.stringify(again.variables)).toBe(JSON.stringify(run.state.variables));
    expect(JSON.stringify(again.genesis)).toBe(JSON.stringify(run.state.genesis));
  });

  it('leaves behind the outputs that no reachable step can refer to (§12)', () => {
    const count = 60;
    const steps: { [slug: string]: StepDefinition } = {};
    for (let i = 0; i < count; i++)
      steps[`s${i}`] = {
        ...http(i === 0 ? {} : { body: `{{ steps.s${i - 1}.output.data|length }}` }),
        ...(i % 2 === 0 ? { outputVariable: `v${i}` } : {}),
        nextSteps: { success: `s${i + 1}` },
      };
    steps[`s${count}`] = {
      stepType: 'mapping',
      config: { output: '{{ steps.s7.output.data|length + outputs.v8|length }}' },
    };
    const run = start(steps);
    for (let i = 0; i < count; i++) {
      const [answered] = run.feed({ type: 'completed', id: `s${i}`, result: { data: text(100_000) } } as Event);
      if (i < count - 1) expect(answered).toMatchObject({ config: { body: 100_000 } });
      if (run.state.ending === undefined) expect(carried(run)).toBeLessThan(500_000);
    }
    expect(run.state.ending).toEqual({ status: 'completed', output: 200_000 });
  });

  it('is not read by an interpreter of another version', () => {
    const run = start(listening);
    expect(() => restore({ ...(carry(run.program, run.state) as object), version: 99 })).toThrow(/version/);
    expect(() => restore(null)).toThrow(/no state/);
  });
});
