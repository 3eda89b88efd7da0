import { describe, expect, it } from 'vitest';
import { listen } from '../../src/steps/kinds/listen.ts';
import { sleep } from '../../src/steps/kinds/sleep.ts';
import { userInput } from '../../src/steps/kinds/user-input.ts';
import { Driven, NOW, parse } from './kind-driver.ts';

const HOUR = 3_600_000;
const taken = (payload: unknown, name = 'n') => ({ name, payload: payload as never, bytes: 0 });
const message = (payload: unknown) => ({ on: 'message', payload: payload as never, message: taken(payload) }) as const;

describe('sleep', () => {
  it('waits for a while', () => {
    const driven = new Driven(sleep, { duration: '1h' });
    expect(driven.begin()).toEqual({
      do: 'suspend',
      state: { until: NOW + HOUR },
      waiting: { kind: 'timer', until: NOW + HOUR },
      timers: [{ at: NOW + HOUR }],
    });
    expect(driven.fire(HOUR)).toEqual({ do: 'end', port: 'success', data: { until: '2026-01-15T11:30:00.000Z' } });
  });

  it('waits until a time, and not at all for one that has passed', () => {
    expect(new Driven(sleep, { until: '{{ at }}' }, { roots: { at: '2026-01-15T11:30:00Z' } }).begin()).toMatchObject({
      timers: [{ at: NOW + HOUR }],
    });
    expect(new Driven(sleep, { until: '2020-01-01' }).begin()).toMatchObject({
      do: 'end',
      data: { until: '2020-01-01T00:00:00.000Z' },
    });
    expect(new Driven(sleep, { duration: 0 }).begin()).toMatchObject({ do: 'end' });
  });

  it('takes one of duration and until', () => {
    for (const config of [{}, { duration: 1, until: '2030-01-01' }])
      expect(() => sleep.plan(config, parse, { stepType: 'sleep' })).toThrow(
        expect.objectContaining({ code: 'invalid_config' }),
      );
  });

  it('fails on a duration that a template makes and that is none', () => {
    const driven = new Driven(sleep, { duration: '{{ wait }}' }, { roots: { wait: 'soon' } });
    expect(() => driven.begin()).toThrow(expect.objectContaining({ code: 'invalid_duration' }));
  });
});

describe('user_input', () => {
  const form = { city: 'string' };

  it('waits for data that fits its form', () => {
    const driven = new Driven(userInput, {
      message: 'Where to?',
      form,
      assignees: ['ann', 'role:support'],
      timeout: '1h',
    });
    expect(driven.begin()).toMatchObject({
      waiting: { kind: 'input', message: 'Where to?', audience: ['user:ann', 'role:support'], until: NOW + HOUR },
      timers: [{ at: NOW + HOUR }],
    });
    expect(driven.refusal({ on: 'submit', data: { city: 4 }, via: 'api' })).toBe('invalid_submission');
    expect(driven.refusal({ on: 'decision', decision: 'approved', via: 'api' })).toBe('not_waiting');
    expect(driven.resume({ on: 'submit', data: { city: 4 }, via: 'api' })).toEqual({ do: 'ignore' });
    expect(driven.resume({ on: 'submit', data: { city: 'Rome' }, by: 'ann', via: 'api' })).toEqual({
      do: 'end',
      port: 'submitted',
      data: { city: 'Rome' },
      meta: { submittedBy: 'ann', via: 'api' },
    });
  });

  it.each([
    [{ city: 'Oslo' }, { leaves: 'submitted' }],
    [undefined, { fails: 'input_timeout' }],
  ])('with the default %j: ends by timeout, or where that is not wired, %j', (otherwise, unwired) => {
    const config = { timeout: '1h', ...(otherwise === undefined ? {} : { default: otherwise }) };
    const driven = new Driven(userInput, config);
    driven.begin();
    const ended = { do: 'end', port: 'timeout', data: otherwise ?? null, meta: { via: 'timeout' } };
    expect(driven.fire(HOUR)).toMatchObject(ended);
    expect(userInput.ports({ stepType: 'user_input', config }).unwired).toMatchObject({ timeout: unwired });
  });
});

describe('listen', () => {
  const roots = { input: { orderId: 'A7' } };

  it('waits for a message of its name', () => {
    const driven = new Driven(listen, { name: 'paid-{{ input.orderId }}' }, { roots });
    expect(driven.begin()).toMatchObject({ do: 'suspend', waiting: { kind: 'message', name: 'paid-A7' }, timers: [] });
    expect(driven.resume(message({ cents: 4 }))).toEqual({
      do: 'end',
      port: 'received',
      data: { cents: 4 },
      took: [taken({ cents: 4 })],
    });
  });

  it('takes what came before it listened, and leaves what is not for it', () => {
    const inbox = [
      { name: 'other', payload: 1 },
      { name: 'paid', payload: { id: 'B1' } },
      { name: 'paid', payload: { id: 'A7' } },
    ];
    const driven = new Driven(listen, { name: 'paid', match: 'payload.id == input.orderId' }, { roots, inbox });
    expect(driven.begin()).toEqual({
      do: 'end',
      port: 'received',
      data: { id: 'A7' },
      took: [taken({ id: 'A7' }, 'paid')],
    });
    expect(driven.inbox).toHaveLength(2);
  });

  it('ignores messages that do not match, or do not fit the schema', () => {
    const driven = new Driven(
      listen,
      { name: 'paid', match: 'payload.id == input.orderId', schema: { id: 'string', cents: 'number' } },
      { roots },
    );
    driven.begin();
    expect(driven.resume(message({ id: 'B1', cents: 4 }))).toEqual({ do: 'ignore' });
    expect(driven.resume(message({ id: 'A7', cents: 'four' }))).toEqual({ do: 'ignore' });
    expect(driven.resume(message({ id: 'A7', cents: 4 }))).toMatchObject({ port: 'received' });
  });

  it('is not failed by a message that its expression cannot be asked about', () => {
    const driven = new Driven(listen, { name: 'n', match: 'payload.amount|round > 3' });
    driven.begin();
    expect(driven.resume(message({ amount: { not: 'a number' } }))).toEqual({ do: 'ignore' });
    expect(driven.resume(message({ amount: 4.2 }))).toMatchObject({ port: 'received' });
  });

  it('collects as many as it counts, early ones first, in order', () => {
    const driven = new Driven(listen, { name: 'n', count: 3 }, { inbox: [{ name: 'n', payload: 1 }] });
    expect(driven.begin()).toMatchObject({ do: 'suspend' });
    expect(driven.resume(message(2))).toMatchObject({ do: 'suspend' });
    expect(driven.resume(message(3))).toEqual({
      do: 'end',
      port: 'received',
      data: [1, 2, 3],
      took: [1, 2, 3].map((n) => taken(n)),
    });
  });

  it('ends by timeout with what came, which it keeps where it fails then', () => {
    const counting = new Driven(listen, { name: 'n', count: 3, timeout: '1h' }, { inbox: [{ name: 'n', payload: 1 }] });
    expect(counting.begin()).toMatchObject({ timers: [{ at: NOW + HOUR }] });
    expect(counting.fire(HOUR)).toEqual({ do: 'end', port: 'timeout', data: [1], took: [taken(1)] });
    const until = '2026-01-15T11:30:00Z';
    const inbox = [{ name: 'n', payload: 1 }];
    const unwired = new Driven(listen, { name: 'n', count: 3, until }, { inbox, wired: ['received'] });
    unwired.begin();
    expect(unwired.fire(HOUR)).toMatchObject({ do: 'end', port: 'timeout', details: { received: 1 } });
    expect(unwired.behaviour.unused?.(unwired.state)).toEqual([taken(1)]);
  });

  it('does not wait for a time that has passed, but takes what is there', () => {
    const config = { name: 'n', until: '2020-01-01' };
    expect(new Driven(listen, config).begin()).toMatchObject({ do: 'end', port: 'timeout', data: null });
    expect(new Driven(listen, config, { inbox: [{ name: 'n', payload: 1 }] }).begin()).toMatchObject({
      port: 'received',
      data: 1,
    });
  });
});
