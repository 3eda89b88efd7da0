import { describe, expect, it } from 'vitest';
import type { HeldPayload } from '../../src/contract/triggers/debounce.ts';
import {
  type Actor,
  type ActorSnapshot,
  applyUpdate,
  beginActor,
  type CarryingStart,
  isRefusal,
} from '../../workflows/actors/actor.ts';
import { debounceActor } from '../../workflows/actors/debounce.ts';
import { definitionActor } from '../../workflows/actors/definition.ts';
import { hookActor } from '../../workflows/actors/hook.ts';
import { limiterActor } from '../../workflows/actors/limiter.ts';
import { triggerActor } from '../../workflows/actors/trigger.ts';

// What actors do by themselves: when they wake up, what they do then, and when they end.

const T0 = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = { organizationId: 'o', historyLimit: 100 };

/** An actor on a clock that the test sets. */
function desk<Start extends CarryingStart, State>(actor: Actor<Start, State>, start: Start) {
  let live: ActorSnapshot<State> = beginActor(actor, start, { now: T0, workflowId: 'actor', runId: 'first' });
  let keys = 0;
  return {
    next: (now = T0) => actor.next?.(live.state, now),
    update: (name: string, request: object, now = T0): unknown => {
      const taken = applyUpdate(actor, live, name, { key: `k${keys++}`, ...request }, now);
      if (isRefusal(taken)) return taken.refused;
      live = taken.state;
      return { answer: taken.answer, effects: taken.effects };
    },
    signal: (name: string, payload: object, now = T0) => {
      const change = actor.signals?.[name]?.(live.state, payload, now);
      if (change !== undefined) live = { ...live, state: change.state };
      return change?.effects ?? [];
    },
    act: (now: number) => {
      const acted = actor.act?.(live.state, now);
      if (acted !== undefined) live = { ...live, state: acted.state };
      const { activity, argument } = acted?.call ?? {};
      return {
        activity,
        argument,
        answer: (result: object, at: number) => {
          const change = acted?.call?.done(live.state, result, now, at);
          if (change !== undefined) live = { ...live, state: change.state };
          return change?.effects ?? [];
        },
      };
    },
    carried: () => actor.carry(live.state),
  };
}

describe('a trigger', () => {
  const start = { ...START, id: 'w.t', workflow: 'w' };
  const spec = { name: 't', type: 'webhook', enabled: true };

  it('is remembered for ten minutes after its deletion', () => {
    const { next, update } = desk(triggerActor, start);
    expect(next()).toBe('wait');
    update('create', { spec });
    expect(next()).toBe('wait');
    update('remove', {});
    expect(next()).toEqual({ at: T0 + 10 * MINUTE });
    expect(update('put', { revision: 1, spec }, T0 + MINUTE)).toMatchObject({ answer: { enabled: true } });
    expect(next(T0 + DAY)).toBe('wait');
  });

  it('stays as long as a definition claims its name', () => {
    const { next, update } = desk(triggerActor, start);
    update('claim', { claim: 'a' });
    update('claim', { claim: 'b' }, T0 + 5 * MINUTE);
    expect(next(T0 + 10 * MINUTE)).toEqual({ at: T0 + 15 * MINUTE });
    expect(update('create', { spec }, T0 + 10 * MINUTE)).toBe('trigger_exists');
    expect(next(T0 + 15 * MINUTE)).toBe('end');
  });
});

describe('a webhook path', () => {
  it('rests for a day, and its actor ends then', () => {
    const { next, update } = desk(hookActor, { ...START, path: 'p' });
    const owner = { workflow: 'w', trigger: 't', revision: 1 };
    update('configure', { ...owner, config: { enabled: true } });
    expect(next()).toBe('wait');
    update('free', owner, T0 + MINUTE);
    expect(next(T0 + MINUTE)).toEqual({ at: T0 + MINUTE + DAY });
    expect(update('claim', { workflow: 'v', trigger: 't' }, T0 + DAY)).toBe('path_resting');
    expect(next(T0 + MINUTE + DAY)).toBe('end');
  });
});

describe('a definition', () => {
  it('wakes up when the next proposal expires', () => {
    const { next, act, update, carried } = desk(definitionActor, { ...START, slug: 'w', proposalMs: DAY });
    update('put', { hash: 'h', name: 'W', enabled: true, tags: [], hooks: [] });
    expect(next()).toBe('wait');
    update('propose', { id: 'p', baseHash: 'h', hash: 'h2' });
    update('propose', { id: 'q', baseHash: 'h', hash: 'h3' }, T0 + MINUTE);
    expect(next()).toEqual({ at: T0 + DAY });
    act(T0 + DAY);
    expect(carried()).toMatchObject({ proposals: [{ status: 'expired' }, { status: 'pending' }] });
    expect(next()).toEqual({ at: T0 + MINUTE + DAY });
    update('remove', {}, T0 + DAY);
    expect([next(), carried()]).toMatchObject(['wait', { proposals: [], removed: { proposals: 2 } }]);
  });
});

describe('a debouncer', () => {
  const payload = (more: Partial<HeldPayload>): object => ({ due: T0 + 1_000, ...more });

  it('starts one run with the last payload, and ends', () => {
    const { next, act, signal } = desk(debounceActor, START);
    expect(next()).toBe('wait');
    signal('hold', payload({ workflow: 'first' }));
    signal('hold', payload({ workflow: 'last', due: T0 + 2_000 }));
    expect(next()).toEqual({ at: T0 + 2_000 });
    expect(next(T0 + 2_000)).toBe('act');
    expect(act(T0 + 2_000)).toMatchObject({
      activity: 'fireDebounced',
      argument: { organizationId: 'o', held: { workflow: 'last' }, key: 'first 1' },
    });
    expect(next(T0 + 2_000)).toBe('end');
  });

  it('holds a payload for the next run that comes while one is started', () => {
    const { next, act, signal } = desk(debounceActor, START);
    signal('hold', payload({}));
    act(T0 + 1_000);
    signal('hold', payload({ due: T0 + 3_000 }), T0 + 1_500);
    expect(next(T0 + 1_500)).toEqual({ at: T0 + 3_000 });
    expect(act(T0 + 3_000).argument).toMatchObject({ key: 'first 2' });
  });

  it('does not let the first payload wait longer than its maximum, nor a repeated one replace a later one', () => {
    const { next, act, signal } = desk(debounceActor, START);
    signal('hold', payload({ id: 'a', forMs: 1_000, mostMs: 1_500 }));
    signal('hold', payload({ id: 'b', forMs: 1_000, mostMs: 1_500 }), T0 + 900);
    signal('hold', payload({ id: 'a', forMs: 1_000, mostMs: 1_500 }), T0 + 950);
    expect(next(T0 + 950)).toEqual({ at: T0 + 1_500 });
    expect(act(T0 + 1_500).argument).toMatchObject({ held: { id: 'b' } });
  });
});

describe('a limiter', () => {
  const wanted = { limit: 1, overflow: 'queue', group: '' };
  const granted = { type: 'signal', workflowId: 'b', name: 'granted', payload: { gate: 'actor' } };
  const full = () => {
    const limiter = desk(limiterActor, { ...START, scope: 'workflow' });
    limiter.update('take', { run: 'a', ...wanted });
    limiter.update('take', { run: 'b', ...wanted });
    return limiter;
  };

  it('asks Temporal about a run that is leaving, and passes its lease on when it has closed', () => {
    const { next, act, signal } = full();
    expect(signal('release', { run: 'a' })).toEqual([]);
    expect(next()).toBe('act');
    const check = act(T0);
    expect(check.argument).toEqual({ runs: ['a'], patienceMs: 2_000 });
    expect(check.answer({ closed: ['a'], closedAt: [T0], missing: [] }, T0)).toEqual([granted]);
  });

  it('asks about its holders ever more rarely while nothing changes', () => {
    const { next, act } = full();
    expect(next()).toMatchObject({ at: T0 + 1_000 });
    act(T0 + 1_000).answer({ closed: [], missing: [] }, T0 + 1_000);
    expect(next()).toMatchObject({ at: T0 + 1_000 + 1_500 });
    expect(act(T0 + 2_500).answer({ closed: ['a'], closedAt: [T0 + 2_000], missing: [] }, T0 + 2_500)).toEqual([
      granted,
    ]);
    expect(next()).toMatchObject({ at: T0 + 2_500 + 300_000 });
  });

  it('ends when it has held nothing for a minute', () => {
    const { next, signal } = full();
    signal('release', { run: 'a', unstarted: true });
    signal('release', { run: 'b', unstarted: true }, T0 + 1);
    expect([next(T0 + 1), next(T0 + 1 + MINUTE)]).toMatchObject([{ at: T0 + 1 + MINUTE }, 'end']);
  });
});
