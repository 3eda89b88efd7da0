import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../src/json/bounded-map.ts';

describe('a bounded map', () => {
  it('forgets the oldest entry beyond its bound, whatever its name', () => {
    const map = new BoundedMap<string, number>(2).set('', 0).set('a', 1).set('b', 2);
    expect([...map]).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('takes an entry that is set again for the latest, and one that is only read for as old as it is', () => {
    const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2).set('a', 3);
    expect(map.get('b')).toBe(2);
    map.set('c', 4);
    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });
});
