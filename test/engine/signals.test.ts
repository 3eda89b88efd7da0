import { describe, expect, it } from 'vitest';
import {
  deepMemberMessage,
  toEvent,
  UPDATES,
  unknownMemberMessage,
  updateToEvent,
} from '../../src/engine/inbound/signals.ts';
import type { Json } from '../../src/json/json.ts';

const FITTING = {
  approve: { step: 'a', key: 'k', by: 'ann', comments: 'Fine.', data: 1, override: true, reason: 'r', via: 'api' },
  reject: { comments: 'No.', as: { roles: [], groups: [] } },
  decide: { decision: 'approved' },
  submit: { data: 1, step: 'a' },
  message: { name: 'm', payload: 1, id: 'i', event: { key: 'k' } },
  cancelStep: { step: 'a' },
  retryStep: { by: 'ann' },
  skipTimer: { key: 'k' },
  pause: { key: 'k' },
  resume: {},
  abort: { reason: 'r' },
};

describe('a signal', () => {
  it.each(Object.entries(FITTING))('%s is taken with its members, and with no other', (name, payload) => {
    expect(toEvent(name, payload, 1)).toMatchObject({ at: 1 });
    expect(toEvent(name, { ...payload, datum: 1 }, 1)).toBeUndefined();
    expect(unknownMemberMessage(name, { ...payload, datum: 1 })).toBe(`'${name}' has no member 'datum'.`);
    expect(unknownMemberMessage(name, payload)).toBeUndefined();
    expect(updateToEvent(name, { ...payload, datum: 1 }, 1)).toBeUndefined();
  });

  it('is listed with its members wherever an update has its name', () => {
    for (const name of UPDATES) expect(Object.keys(FITTING)).toContain(name);
  });

  it('of runs and gates may say more than is read', () => {
    expect(toEvent('granted', { gate: 'g', since: 1 }, 1)).toEqual({ type: 'granted', at: 1, gate: 'g' });
    expect(toEvent('childDone', { path: 'p', output: 1, more: 2 }, 1)).toMatchObject({ type: 'childDone', id: 'p' });
  });

  it('is ignored where no run could store what it holds, and taken where a run can', () => {
    const nested = (levels: number): Json => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as Json;
    const holders: { readonly [name: string]: (value: Json) => object } = {
      message: (payload) => ({ name: 'm', payload }),
      approve: (data) => ({ data }),
      reject: (data) => ({ data }),
      decide: (data) => ({ decision: 'approved', data }),
      submit: (data) => ({ data }),
      childDone: (output) => ({ path: 'p', output }),
    };
    for (const [name, holding] of Object.entries(holders)) {
      expect(toEvent(name, holding(nested(1_000)), 1), name).toBeDefined();
      expect(toEvent(name, holding(nested(1_001)), 1), name).toBeUndefined();
      expect(updateToEvent(name, holding(nested(50_000)), 1), name).toBeUndefined();
    }
    expect(deepMemberMessage({ name: 'm', payload: nested(1_001) })).toBe(
      "'payload' is nested deeper than 1000 levels.",
    );
    expect(deepMemberMessage({ name: 'm', payload: nested(1_000) })).toBeUndefined();
  });

  it('message has its payload as `payload`, and nothing odd in `event`', () => {
    expect(toEvent('message', { name: 'm', data: { a: 1 } }, 1)).toBeUndefined();
    for (const event of [1, 'k', { keys: 'k' }, { key: 1 }])
      expect(toEvent('message', { name: 'm', event }, 1)).toBeUndefined();
    expect(toEvent('message', { name: 'm', payload: 1, event: {} }, 1)).toMatchObject({ event: {} });
    expect(toEvent('message', { name: 'm' }, 1)).not.toHaveProperty('event');
  });
});
