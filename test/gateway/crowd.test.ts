// The places of requests that change something: how many there are, and for whom.
import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { describe, expect, it } from 'vitest';
import { Crowd, leaveCrowd, type Occupant } from '../../src/gateway/http/crowd.ts';
import { HttpProblem } from '../../src/gateway/validation/http-problem.ts';

const answer = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as Response & EventEmitter;

/** How many of `count` requests get a place. */
function entered(crowd: Crowd, count: number, occupant: Occupant): number {
  let inside = 0;
  for (let n = 0; n < count; n++) {
    try {
      crowd.enter(answer(), occupant);
      inside += 1;
    } catch (error) {
      expect(error).toBeInstanceOf(HttpProblem);
      expect(error).toMatchObject({ code: 'gateway_busy', options: { headers: { 'retry-after': '2' } } });
    }
  }
  return inside;
}

const withoutKey = (organizationId: string): Occupant => ({ organizationId, hasKey: false });
const withKey = (organizationId?: string): Occupant => ({ organizationId, hasKey: true });

describe('a crowd of one organization', () => {
  it.each([
    ['with keys', withKey('default')],
    ['without keys', withoutKey('default')],
  ])('%s has all places', (_which, occupant) => {
    const crowd = new Crowd(() => false);
    expect(entered(crowd, 1_100, occupant)).toBe(1_024);
    expect(entered(crowd, 1, withKey('default'))).toBe(0);
  });
});

describe('where there are several organizations', () => {
  it('256 places are left to callers with keys', () => {
    const crowd = new Crowd(() => true);
    expect(entered(crowd, 500, withoutKey('acme'))).toBe(500);
    expect(entered(crowd, 500, withoutKey('bolt'))).toBe(268);
    expect(entered(crowd, 300, withKey('bolt'))).toBe(512 - 268);
    expect(entered(crowd, 300, withKey('default'))).toBe(1_024 - 768 - 244);
  });

  it('one holds 512 at most, with and without keys together', () => {
    const crowd = new Crowd(() => true);
    expect(entered(crowd, 400, withoutKey('acme'))).toBe(400);
    expect(entered(crowd, 400, withKey('acme'))).toBe(112);
    expect(entered(crowd, 600, withKey('bolt'))).toBe(512);
    expect(entered(crowd, 1, withKey())).toBe(0);
  });

  it('a place is free again when the answer is sent, when the request only waits, or when its caller has gone', () => {
    const crowd = new Crowd(() => true, { places: 4, placesForKeys: 1, placesOfOne: 2 });
    const [sent, waiting] = [answer(), answer()];
    crowd.enter(sent, withoutKey('acme'));
    crowd.enter(waiting, withoutKey('acme'));
    expect(entered(crowd, 1, withKey('acme'))).toBe(0);
    sent.emit('close');
    sent.emit('close');
    leaveCrowd(waiting);
    waiting.emit('close');
    crowd.enter(Object.assign(answer(), { closed: true }), withoutKey('acme'));
    expect(entered(crowd, 3, withKey('acme'))).toBe(2);
    expect(entered(crowd, 3, withoutKey('bolt'))).toBe(2);
  });
});
