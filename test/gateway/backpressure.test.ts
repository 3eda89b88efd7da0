// The slots of requests that change something: how many there are, and for whom.
import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { describe, expect, it } from 'vitest';
import { Backpressure, releaseRequestSlot, type SlotOwner } from '../../src/gateway/http/backpressure.ts';
import { HttpProblem } from '../../src/gateway/validation/http-problem.ts';

const answer = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as Response & EventEmitter;

/** How many of `count` requests get a slot. */
function acquireSlots(backpressure: Backpressure, count: number, owner: SlotOwner): number {
  let acquired = 0;
  for (let n = 0; n < count; n++) {
    try {
      backpressure.acquire(answer(), owner);
      acquired += 1;
    } catch (error) {
      expect(error).toBeInstanceOf(HttpProblem);
      expect(error).toMatchObject({ code: 'gateway_busy', options: { headers: { 'retry-after': '2' } } });
    }
  }
  return acquired;
}

const withoutKey = (organizationId: string): SlotOwner => ({ organizationId, hasKey: false });
const withKey = (organizationId?: string): SlotOwner => ({ organizationId, hasKey: true });

describe('where there is one organization', () => {
  it.each([
    ['with keys', withKey('default')],
    ['without keys', withoutKey('default')],
  ])('a caller %s may take all slots', (_which, owner) => {
    const backpressure = new Backpressure(() => false);
    expect(acquireSlots(backpressure, 1_100, owner)).toBe(1_024);
    expect(acquireSlots(backpressure, 1, withKey('default'))).toBe(0);
  });
});

describe('where there are several organizations', () => {
  it('256 slots are left to callers with keys', () => {
    const backpressure = new Backpressure(() => true);
    expect(acquireSlots(backpressure, 500, withoutKey('acme'))).toBe(500);
    expect(acquireSlots(backpressure, 500, withoutKey('bolt'))).toBe(268);
    expect(acquireSlots(backpressure, 300, withKey('bolt'))).toBe(512 - 268);
    expect(acquireSlots(backpressure, 300, withKey('default'))).toBe(1_024 - 768 - 244);
  });

  it('one holds 512 at most, with and without keys together', () => {
    const backpressure = new Backpressure(() => true);
    expect(acquireSlots(backpressure, 400, withoutKey('acme'))).toBe(400);
    expect(acquireSlots(backpressure, 400, withKey('acme'))).toBe(112);
    expect(acquireSlots(backpressure, 600, withKey('bolt'))).toBe(512);
    expect(acquireSlots(backpressure, 1, withKey())).toBe(0);
  });

  it('releases a slot when the answer is sent, when the request only waits, or when its caller disconnects', () => {
    const backpressure = new Backpressure(() => true, { slots: 4, slotsForKeys: 1, slotsPerOrganization: 2 });
    const [sent, waiting] = [answer(), answer()];
    backpressure.acquire(sent, withoutKey('acme'));
    backpressure.acquire(waiting, withoutKey('acme'));
    expect(acquireSlots(backpressure, 1, withKey('acme'))).toBe(0);
    sent.emit('close');
    sent.emit('close');
    releaseRequestSlot(waiting);
    waiting.emit('close');
    backpressure.acquire(Object.assign(answer(), { closed: true }), withoutKey('acme'));
    expect(acquireSlots(backpressure, 3, withKey('acme'))).toBe(2);
    expect(acquireSlots(backpressure, 3, withoutKey('bolt'))).toBe(2);
  });
});
