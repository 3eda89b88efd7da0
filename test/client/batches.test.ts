import { describe, expect, it } from 'vitest';
import { Batches } from '../../src/client/temporal/batches.ts';

const soon = () => new Promise((resolve) => setTimeout(resolve, 1));

describe('items that are sent together', () => {
  it('go at once if nothing is on its way, else together, in their order, and name by name', async () => {
    const sent: string[] = [];
    const batches = new Batches<number, number>(4, async (name, items) => {
      sent.push(`${name} ${items.join(' ')}`);
      await soon();
      return items.length;
    });
    const answers = [1, 2, 3, 4, 5, 6, 7].map((item) => batches.add('a', item));
    const other = batches.add('b', 8);
    expect(await Promise.all(answers)).toEqual([1, 4, 4, 4, 4, 2, 2]);
    expect(await other).toBe(1);
    expect(sent).toEqual(['a 1', 'b 8', 'a 2 3 4 5', 'a 6 7']);
    expect(await batches.add('a', 9)).toBe(1);
  });

  it('wait for others where there is a pause', async () => {
    const sent: string[] = [];
    const send = async (_name: string, items: readonly number[]): Promise<void> => void sent.push(items.join(' '));
    const batches = new Batches<number, void>(2, send, 20);
    const first = batches.add('a', 1);
    await soon();
    await Promise.all([first, batches.add('a', 2), batches.add('a', 3)]);
    expect(sent).toEqual(['1 2', '3']);
  });

  it('fail together, and only those of one batch', async () => {
    const batches = new Batches<string, string>(10, async (_name, items) => {
      await soon();
      if (items.includes('bad')) throw new Error('refused');
      return 'taken';
    });
    const answers = ['first', 'bad', 'beside'].map((item) => batches.add('a', item));
    const [first, bad, beside] = await Promise.allSettled(answers);
    expect(first).toMatchObject({ value: 'taken' });
    expect([bad?.status, beside?.status]).toEqual(['rejected', 'rejected']);
    expect(await batches.add('a', 'later')).toBe('taken');
  });
});
