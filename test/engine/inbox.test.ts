import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { unreadCount, waitingFor, waitingTags } from '../../src/engine/inbound/view.ts';
import { MAX_LISTEN_TAGS } from '../../src/engine/state/limits.ts';
import type { Command } from '../../src/engine/state/protocol.ts';
import type { Json } from '../../src/json/json.ts';
import { programOf } from '../support/program.ts';
import { completed, http, message, start } from './large-runs.ts';
import { Player } from './player.ts';
import { perform } from './random-actions.ts';

const event = (name: string, payload: Json, key?: string) =>
  ({ type: 'message', name, payload, event: key === undefined ? {} : { key } }) as const;

const NAMES = ['news', 'gossip'] as const;

/** Listeners in sequence: alone, with a timeout, or in parallel. Every port leads to the next one. */
const listeners: fc.Arbitrary<Definition> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('alone', 'race', 'parallel'),
      name: fc.constantFrom<Json>('news', 'gossip', [...NAMES]),
      key: fc.constantFrom<{ key?: string }>({}, { key: 'k1' }),
      count: fc.integer({ min: 1, max: 3 }),
      timeout: fc.constantFrom<{ timeout?: string }>({}, { timeout: '1m' }),
    }),
    { minLength: 2, maxLength: 6 },
  )
  .map((blocks) => {
    const steps: { [slug: string]: StepDefinition } = { end: { stepType: 'listen', config: { name: 'never' } } };
    blocks.forEach(({ kind, name, key, count, timeout }, i) => {
      const next = i + 1 < blocks.length ? `b${i + 1}` : 'end';
      const config = { name, count, ...key, ...timeout };
      if (kind === 'alone') steps[`b${i}`] = { stepType: 'listen', config, nextSteps: { received: next, error: next } };
      else {
        steps[`b${i}`] = { stepType: kind, nextSteps: { one: `one${i}`, two: `two${i}`, done: next, error: next } };
        steps[`one${i}`] = { stepType: 'listen', config };
        steps[`two${i}`] =
          kind === 'race'
            ? { stepType: 'sleep', config: { duration: '30s' } }
            : { stepType: 'listen', config: { name, count: 2, timeout: '45s' } };
      }
    });
    return { name: 'Listeners', slug: 'listeners', start: 'b0', steps };
  });

const acts = fc.array(
  fc.record({ do: fc.constantFrom('message', 'message', 'event', 'event', 'fire', 'cancelStep'), n: fc.nat(5) }),
  { minLength: 5, maxLength: 40, size: 'max' },
);

describe('the inbox', () => {
  it('has every message to the run once: unread, with an open listener, or put out', () => {
    let returned = 0;
    fc.assert(
      fc.property(listeners, acts, fc.boolean(), (definition, script, carries) => {
        const player = new Player(programOf(definition), { carries });
        player.feed({ type: 'started' });
        const sent: number[] = [];
        for (const [i, one] of script.entries()) {
          player.at += 100;
          const [name, key] = [NAMES[one.n % 2]!, `k${one.n % 3}`];
          const published = one.do === 'event' ? { event: { key } } : {};
          if (one.do === 'fire') player.fire();
          else if (one.do === 'cancelStep') perform(player, { do: 'cancelStep', n: one.n, named: true });
          else player.feed({ type: 'message', name, payload: i, ...published });
          if (one.do === 'message') sent.push(i);
          if (player.ended) return;
          const found = placesOf(player);
          expect(found.length).toBe(new Set(found).size);
          expect(found).toEqual(expect.arrayContaining(sent));
          const numbers = player.state.inbox.map(({ n }) => n!);
          expect(numbers).toEqual(numbers.toSorted((x, y) => x - y));
          const bytes = player.state.inbox.reduce((sum, message) => sum + message.bytes, 0);
          expect(player.state.inboxBytes).toBe(bytes);
          if (player.state.inbox.some((message) => message.event !== undefined)) returned++;
        }
      }),
      { numRuns: 200 },
    );
    expect(returned).toBeGreaterThan(20);
  });

  it('keeps no event that nobody took, whatever it says', () => {
    const run = start({
      hear: {
        stepType: 'listen',
        config: { name: 'paid', key: 'A', match: 'payload.ok' },
        nextSteps: { received: 'rest' },
      },
      rest: { stepType: 'sleep', config: { duration: '1h' } },
    });
    for (const one of [
      event('paid', { ok: false }, 'A'),
      event('paid', { ok: true }, 'B'),
      event('paid', { ok: true }),
      event('sent', 1),
    ])
      run.feed(one);
    expect(run.state).toMatchObject({ inbox: [], inboxBytes: 0 });
    expect(waitingFor(run.state)).toMatchObject([{ path: 'hear', name: 'paid', key: 'A' }]);
    run.feed(event('paid', { ok: true }, 'A'));
    run.feed(event('paid', { ok: true }, 'A'));
    expect(run.state).toMatchObject({ inbox: [], inboxBytes: 0 });
    expect(waitingFor(run.state)).toMatchObject([{ path: 'rest' }]);
  });

  it('shows a listener as soon as it listens, also while something else runs', () => {
    const run = start({
      both: { stepType: 'parallel', nextSteps: { a: 'long', b: 'rest' } },
      long: http(),
      rest: { stepType: 'sleep', config: { duration: 10 }, nextSteps: { success: 'hear' } },
      hear: { stepType: 'listen', config: { name: ['x', 'y'], key: 7 } },
    });
    const shows = (commands: readonly Command[]) => commands.some(({ type }) => type === 'visible');
    expect(waitingTags(run.state)).toEqual(['timer']);
    expect(shows(run.feed({ type: 'fired', id: 'both/b/rest' }))).toBe(true);
    expect(waitingTags(run.state)).toEqual([
      'message',
      expect.stringMatching(/^message-key:[0-9a-f]{32}:x$/),
      expect.stringMatching(/^message-key:[0-9a-f]{32}:y$/),
    ]);
    expect(shows(run.feed(completed('both/a/long')))).toBe(true);
  });

  it('is found by nothing once the run has returned', () => {
    const run = start({
      both: { stepType: 'parallel', nextSteps: { a: 'get', b: 'hear', c: 'end' } },
      get: http(),
      hear: { stepType: 'listen', config: { name: 'news' } },
      end: { stepType: 'return', config: { output: 1 } },
    });
    expect(run.state.draining).toMatchObject({ output: 1 });
    expect(waitingTags(run.state)).toEqual([]);
  });

  it('is found by names where keys are too many, and by everything where names are', () => {
    const listeners = (count: number, config: { [member: string]: Json }) =>
      start({
        each: {
          stepType: 'forEach',
          config: { items: Array.from({ length: count }, (_, n) => n), concurrency: count },
          nextSteps: { item: 'hear' },
        },
        hear: { stepType: 'listen', config: { name: 'x', ...config } },
      }).state;
    expect(waitingTags(listeners(MAX_LISTEN_TAGS, { key: '{{ item }}' }))).toHaveLength(MAX_LISTEN_TAGS + 1);
    expect(waitingTags(listeners(MAX_LISTEN_TAGS + 1, { key: '{{ item }}' }))).toEqual(['message:x', 'message']);
    expect(waitingTags(listeners(MAX_LISTEN_TAGS + 1, { name: 'x{{ item }}' }))).toEqual(['message-any', 'message']);
  });

  it('checks a message that a step refuses once, however often the step is visited', () => {
    const reads = { n: 0 };
    const payload = (kind: string) => ({
      get kind() {
        reads.n++;
        return kind;
      },
    });
    const visits = 200;
    const looping = (match: string) =>
      start(
        {
          each: { stepType: 'loop', config: { items: Array(visits).fill(0) }, nextSteps: { loop: 'hear' } },
          hear: { stepType: 'listen', config: { name: 'n', match } },
        },
        { kind: 'mine' },
      );
    for (const [match, most] of [
      ['payload.kind == input.kind', 10_000],
      ['payload.kind == (loop.index < 0 ? "" : "mine")', Number.POSITIVE_INFINITY],
    ] as const) {
      const run = looping(match);
      for (let n = 0; n < 1_000; n++) run.feed(message('n', payload('other')));
      reads.n = 0;
      for (let n = 0; n < visits; n++) {
        for (let more = run.feed(message('n', payload('mine'))); more.some(({ type }) => type === 'yield'); )
          more = run.feed({ type: 'continue' });
      }
      expect(run.state.ending?.status).toBe('completed');
      expect(unreadCount(run.state)).toBe(1_000);
      expect(reads.n).toBeLessThan(most);
      if (most === Number.POSITIVE_INFINITY) expect(reads.n).toBeGreaterThan(visits * 900);
    }
  });

  it('checks the messages behind a returned message again', () => {
    const run = start({
      each: { stepType: 'loop', config: { items: [1, 2, 3] }, nextSteps: { loop: 'race', done: 'rest' } },
      race: { stepType: 'race', nextSteps: { hear: 'hear', stop: 'stop' } },
      hear: { stepType: 'listen', config: { name: 'n', match: 'payload > 1', count: 2 } },
      stop: { stepType: 'listen', config: { name: 'stop' } },
      rest: { stepType: 'sleep', config: { duration: '1h' } },
    });
    for (const n of [2, 1]) run.feed(message('n', n));
    run.feed(message('stop', null));
    expect(run.state.inbox.map(({ payload }) => payload)).toEqual([1]);
    run.feed(message('stop', null));
    run.feed(message('n', 3));
    expect(run.state.frames['']?.entries['race']?.output.data).toEqual({ winner: 'hear', value: [2, 3] });
    expect(run.state.inbox.map(({ payload }) => payload)).toEqual([1]);
  });

  it('forgets the id of a message that it dropped: sent again, it is taken', () => {
    const run = start({ hear: { stepType: 'listen', config: { name: 'last' } } });
    for (let i = 0; i < 9; i++) run.feed(message('n', 'x'.repeat(110_000)));
    run.feed(message('n', 'x'.repeat(110_000), 'one'));
    expect(run.state.droppedCount).toBe(1);
    expect(run.state.messageIds).toEqual([]);
  });

  it('remembers the ids of events that a listener took, and of no others', () => {
    const run = start({ hear: { stepType: 'listen', config: { name: 'n', match: 'payload > 0', count: 3 } } });
    for (const payload of [0, 1, 1]) run.feed({ ...event('n', payload), id: `event:${payload}` });
    expect(run.state.messageIds).toEqual(['event:1']);
    expect(run.state.frames['']?.visit?.state['taken']).toMatchObject([{ payload: 1 }]);
  });
});

/** Payloads of messages: unread, held by listeners that are open, and put out by those that have ended. */
function placesOf({ state, trace }: Player): number[] {
  const open = Object.values(state.frames).flatMap(
    ({ visit }) => (visit?.state['taken'] ?? []) as { payload: number }[],
  );
  const out = trace.flatMap((line) => {
    if (line.t !== 'end') return [];
    const { type, data, meta } = (line.output ?? {}) as { type?: string; data?: number | number[] | null; meta?: Json };
    const isSkipped = meta !== null && typeof meta === 'object' && 'skipped' in meta;
    return type !== 'listen' || isSkipped || data === null || data === undefined ? [] : data;
  });
  return [...state.inbox.map(({ payload }) => payload as number), ...open.map(({ payload }) => payload), ...out];
}
