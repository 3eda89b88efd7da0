import { describe, expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { type ScriptedSignal, simulate } from '../../src/engine/simulate.ts';
import type { RunCommand } from '../../src/engine/state/protocol.ts';
import type { Json } from '../../src/json/json.ts';
import { programOf } from '../support/program.ts';

const send = (next?: string) => ({
  stepType: 'http',
  config: { url: 'https://example.com', body: "see {{ callback('wait') }}" },
  ...(next === undefined ? {} : { nextSteps: { success: next } }),
});
const wait = { stepType: 'wait_callback' };
const message = (path: string, payload: Json, when?: string): ScriptedSignal => ({
  ...(when === undefined ? { afterMs: 0 } : { when }),
  signal: 'message',
  payload: { name: `callback:${path}`, payload },
});

function walk(steps: Definition['steps'], signals: ScriptedSignal[] = [], more: Partial<Definition> = {}) {
  const program = programOf({ name: 'Asks', slug: 'asks', steps, ...more });
  const genesis = {
    executionId: 'run.default.asks.1',
    organizationId: 'default',
    input: {},
    presets: {},
    trigger: { type: 'manual' },
    depth: 0,
    startedAt: 1_768_473_000_000,
  };
  const effect = () => ({ result: { data: null }, afterMs: 10 });
  return simulate(program, { genesis, effect, signals, serializesAlways: true });
}

/** Where the callbacks of the effects lead, in order. */
const placed = (run: ReturnType<typeof walk>): Json[] =>
  run.commands
    .filter((command): command is RunCommand => command.type === 'run')
    .flatMap(({ secrets }) => secrets.flatMap(({ parts }) => parts as Json[]));

describe("{{ callback('…') }}", () => {
  it('stands for the next visit of the step, and has no value in the run (E7)', () => {
    const run = walk({ send: send('wait'), wait });
    expect(placed(run)).toEqual(['see ', { callback: 'wait', slug: 'wait' }]);
    expect(run.commands[0]).toMatchObject({ config: { body: 'see [callback wait]' } });
    expect(run.waits).toMatchObject([{ path: 'wait', kind: 'callback', name: 'callback:wait' }]);
  });

  it('stands for a step whose slug is a name that every object has', () => {
    const asks = {
      ...send('constructor'),
      config: { url: 'https://example.com', body: "{{ callback('constructor') }}" },
    };
    const run = walk({ start: { stepType: 'trigger', nextSteps: { success: 'asks' } }, asks, constructor: wait });
    expect(placed(run)).toEqual([{ callback: 'constructor', slug: 'constructor' }]);
    expect(run.waits).toMatchObject([{ path: 'constructor', name: 'callback:constructor' }]);
  });

  it('stands for another visit in each tick of a loop', () => {
    const run = walk(
      {
        each: { stepType: 'loop', config: { items: [1, 2] }, nextSteps: { loop: 'send' } },
        send: send('wait'),
        wait: { ...wait, nextSteps: { received: 'each' } },
      },
      [message('each~0/wait', 'a', 'each~0/wait'), message('each~1/wait', 'b', 'each~1/wait')],
    );
    expect(run.status).toBe('completed');
    expect(placed(run)).toContainEqual({ callback: 'each~0/wait', slug: 'wait' });
    expect(placed(run)).toContainEqual({ callback: 'each~1/wait', slug: 'wait' });
  });

  it('reaches from the body of a loop to a step behind it, and counts visits', () => {
    const run = walk(
      {
        first: { ...wait, nextSteps: { received: 'wait' } },
        wait: { ...wait, nextSteps: { received: 'once' } },
        once: { stepType: 'loop', config: { items: [1] }, nextSteps: { loop: 'send', done: 'wait' } },
        send: send('once'),
      },
      [message('first', 1, 'first'), message('wait', 2, 'wait')],
    );
    expect(placed(run)).toContainEqual({ callback: 'wait#2', slug: 'wait' });
    expect(run.waits).toMatchObject([{ path: 'wait#2' }]);
  });

  it('stays within its branch', () => {
    const run = walk({
      both: { stepType: 'parallel', nextSteps: { left: 'send', right: 'pause' } },
      send: send('wait'),
      wait,
      pause: { stepType: 'sleep', config: { duration: 5 } },
    });
    expect(placed(run)).toContainEqual({ callback: 'both/left/wait', slug: 'wait' });
    expect(run.waits).toMatchObject([{ path: 'both/left/wait' }]);
  });

  it.each<[string, Definition['steps']]>([
    [
      'another branch',
      { both: { stepType: 'parallel', nextSteps: { left: 'send', right: 'wait' } }, send: send(), wait },
    ],
    [
      'a loop that has not begun',
      { send: send('each'), each: { stepType: 'loop', config: { items: [1] }, nextSteps: { loop: 'wait' } }, wait },
    ],
    ['a step of another kind', { send: send('wait'), wait: { stepType: 'checkpoint' } }],
  ])('fails the step where it leads to %s', (_where, steps) => {
    const { trace } = walk(steps);
    expect(trace).toContainEqual(
      expect.objectContaining({ t: 'end', error: expect.objectContaining({ code: 'callback_out_of_reach' }) }),
    );
  });

  it('leads to a step of a dag', () => {
    const run = walk({ send: send(), wait: { ...wait, dependsOn: ['send'] } }, [], { flow: 'dag' });
    expect(placed(run)).toContainEqual({ callback: 'wait', slug: 'wait' });
    expect(run.waits).toMatchObject([{ path: 'wait', kind: 'callback' }]);
  });
});

describe('a callback', () => {
  it('ends the step that waits for it', () => {
    expect(walk({ send: send('wait'), wait }, [message('wait', { ok: 1 }, 'wait')])).toMatchObject({
      status: 'completed',
      output: { ok: 1 },
    });
  });

  it('that comes before the step waits is kept', () => {
    const run = walk({ send: send('wait'), wait }, [message('wait', 'early')]);
    expect(run).toMatchObject({ status: 'completed', output: 'early' });
    expect(run.state.inbox).toEqual([]);
  });
});
