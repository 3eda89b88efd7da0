// Who may be open when not all can be (src/engine/state/command-backlog.ts).
import { describe, expect, it } from 'vitest';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { MAX_OPEN_EFFECTS } from '../../src/engine/state/limits.ts';
import { programOf } from '../support/program.ts';
import { http } from './large-runs.ts';
import { Player } from './player.ts';

describe('room for 500 commands', () => {
  /** Feeds the timer that is due first, and lets the clock stand there. */
  function world(steps: Definition['steps']) {
    const program = programOf({ name: 'Full', slug: 'full', steps });
    const player = new Player(program);
    player.feed({ type: 'started' });
    return player;
  }
  const many = (count: number) => Array.from({ length: count }, (_, i) => i);
  const each = (count: number, item: string, more: Partial<StepDefinition> = {}): StepDefinition => ({
    stepType: 'forEach',
    config: { items: many(count), concurrency: 500 },
    nextSteps: { item, ...more.nextSteps },
  });

  it('keeps the timers open that are due first, so that none is late', () => {
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
  });

  it('lets effects go before timers that are due later', () => {
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
  });

  it('lets an effect and a timer go although a thousand effects wait', () => {
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
  });
});
