import { describe, expect, it } from 'vitest';
import { MAX_STATE_BYTES } from '../../src/definition/document/limits.ts';
import type { StepDefinition } from '../../src/definition/document/types.ts';
import { inboxOf, statusOf, unreadCount } from '../../src/engine/inbound/view.ts';
import {
  MAX_ACTIVATION_BYTES,
  MAX_INBOX_BYTES,
  MAX_INBOX_MESSAGES,
  MAX_OPEN_EFFECTS,
  REMEMBERED_IDS,
} from '../../src/engine/state/limits.ts';
import { measure } from '../../src/engine/state/measure.ts';
import type { Command } from '../../src/engine/state/protocol.ts';
import { definitionBytes } from '../../src/engine/state/serialize.ts';
import { fitsLimit } from '../../src/engine/state/space.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import type { Json } from '../../src/json/json.ts';
import { carriedBytes, completed, http, listening, message, start, text } from './large-runs.ts';

describe('limits', () => {
  it('has at most 500 commands open; the others wait, and go out in order as answers come', () => {
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
  });

  it('walks 1,000 concurrent iterations with 500 commands open, and can carry them at any moment', () => {
    const items = Array.from({ length: 1_250 }, (_, i) => i);
    const run = start({
      each: { stepType: 'forEach', config: { items, concurrency: 1_000 }, nextSteps: { item: 'call' } },
      call: http({ query: { item: '{{ item }}' } }),
    });
    const open: string[] = [];
    let most = 0;
    const heed = (commands: readonly Command[]) => {
      for (const command of commands) if (command.type === 'run') open.push(command.id);
      most = Math.max(most, open.length);
    };
    heed(run.first);
    expect(Object.keys(run.state.openCommands)).toHaveLength(1_000);
    for (let answered = 0; open.length > 0; answered++) {
      if (answered % 500 === 0) expect(carriedBytes(run)).toBeLessThan(MAX_STATE_BYTES);
      heed(run.feed(completed(open.shift()!)));
    }
    expect(most).toBe(MAX_OPEN_EFFECTS);
    expect(run.state.ending).toMatchObject({ status: 'completed' });
  });

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
    });
    expect(failed.filter(({ type }) => type === 'cancel')).toHaveLength(MAX_OPEN_EFFECTS - 1);
    expect(run.state).toMatchObject({ sentCount: 0, backlog: [], openActivities: 0, ending: { status: 'failed' } });
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
    for (let commands = run.first; ; commands = run.feed({ type: 'continue' })) {
      expect(jsonBytes(commands as unknown as Json)).toBeLessThan(MAX_ACTIVATION_BYTES + 10_000);
      sent.push(commands.filter(({ type }) => type === 'run').length);
      if (!commands.some(({ type }) => type === 'yield')) break;
    }
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.reduce((a, b) => a + b)).toBe(30);
  });

  it('walks 100,000 ticks of pure steps with yields, and carries no more at the end than at the start (§2.5)', () => {
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
    for (; commands.some(({ type }) => type === 'yield'); commands = run.feed({ type: 'continue' })) {
      expect(statusOf(run.state)).toBe('running');
      if (sizes.length % 3 === 0) sizes.push(carriedBytes(run));
      else sizes.push(sizes.at(-1)!);
    }
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(1_000);
    expect(run.state.variables['sum']).toBe(100_000);
    expect(run.state.ending).toMatchObject({ status: 'completed' });
  });

  it('drops and counts messages that a full inbox cannot keep, and the run continues', () => {
    const run = start(listening);
    for (let i = 0; i < 9; i++) run.feed(message('news', text(110_000)));
    expect(run.state).toMatchObject({ inboxBytes: expect.toSatisfy((bytes: number) => bytes < MAX_INBOX_BYTES) });
    run.feed(message('news', text(110_000), 'again'));
    run.feed(message('news', text(110_000), 'again'));
    expect(inboxOf(run.state)).toMatchObject({ unread: 9, dropped: 2 });
    run.feed(message('news', 'small'));
    expect(inboxOf(run.state)).toMatchObject({ unread: 10, dropped: 2 });
    run.feed(message('other', text(110_000)));
    expect(run.state.ending).toMatchObject({ status: 'completed' });
  });

  it('keeps five thousand messages that say nothing, and what is carried stays below the limit', () => {
    const run = start(listening);
    for (let i = 0; i < 10_000; i++) run.feed(message('n', null));
    expect(inboxOf(run.state)).toMatchObject({ unread: MAX_INBOX_MESSAGES, dropped: 10_000 - MAX_INBOX_MESSAGES });
    expect(carriedBytes(run)).toBeLessThan(MAX_STATE_BYTES);
  });

  it('checks each unread message once, however many match', () => {
    const many = MAX_INBOX_MESSAGES / 2;
    const run = start({
      go: { stepType: 'listen', config: { name: 'go' }, nextSteps: { received: 'take' } },
      take: {
        stepType: 'listen',
        config: { name: 'n', count: many, match: 'payload.n % 2 == 0' },
        nextSteps: { received: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.take.output.data }}' } },
    });
    let reads = 0;
    const counted = (n: number) => ({
      get n() {
        reads++;
        return n;
      },
    });
    for (let n = 0; n < 2 * many; n++) run.feed(message('n', counted(n)));
    reads = 0;
    // Counted once as well: it fits into one activation.
    expect(run.feed(message('go', null))).not.toContainEqual({ type: 'yield' });
    expect(reads).toBeLessThan(10 * many);
    expect(run.state.ending).toEqual({
      status: 'completed',
      output: Array.from({ length: many }, (_, n) => ({ n: 2 * n })),
    });
    expect(unreadCount(run.state)).toBe(many);
  });

  it('remembers a thousand ids of messages, and none of them at length', () => {
    const run = start(listening);
    for (let i = 0; i < REMEMBERED_IDS + 10; i++) run.feed(message('other2', 1, `${i}${text(1_000)}`));
    expect(run.state.messageIds).toHaveLength(REMEMBERED_IDS);
    expect(jsonBytes(run.state.messageIds)).toBeLessThan(250 * REMEMBERED_IDS);
    expect(unreadCount(run.state)).toBe(REMEMBERED_IDS + 10);
    run.feed(message('other2', 1, `${REMEMBERED_IDS}${text(1_000)}`));
    expect(unreadCount(run.state)).toBe(REMEMBERED_IDS + 10);
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

  it('counts a value that is nested as deeply as one may be, wherever the state holds it', () => {
    let deep: Json = 1;
    for (let i = 0; i < 1_000; i++) deep = [deep];
    const later = start({ rest: { stepType: 'sleep', config: { duration: '1h' } } });
    const heard = start({
      hear: { stepType: 'listen', config: { name: 'other' }, outputVariable: 'kept', nextSteps: { received: 'call' } },
      call: http({ body: '{{ kept }}' }),
    });
    for (const run of [later, heard]) {
      run.feed(message('other', deep));
      expect(run.state.ending).toBeUndefined();
      const { bytes } = measure(run.program, run.state);
      run.state.bytes = MAX_STATE_BYTES;
      expect(fitsLimit(run.program, run.state, bytes + definitionBytes(run.program))).toBe(true);
      expect(run.state.serializedSizes, 'the state was written').toBeDefined();
    }
  });

  it('ends by a typed error where values grow by themselves', () => {
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
      for (let i = 0; i < 1_000 && run.state.ending === undefined; i++) run.feed({ type: 'continue' });
      expect(run.state.ending).toMatchObject({
        status: 'failed',
        error: { code: expect.stringMatching(/state_too_large|value_too_deep|expression_limit/) },
      });
    }
  });
});
