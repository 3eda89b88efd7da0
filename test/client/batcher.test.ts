import { describe, expect, it } from 'vitest';
import { Batcher } from '../../src/client/concurrency/batcher.ts';

const soon = () => new Promise((resolve) => setTimeout(resolve, 1));

describe('a batcher', () => {
  it('sends an item immediately if no batch of its name is in flight, else in a batch, in order', async () => {
    const sent: string[] = [];
    const batcher = new Batcher<number, number>(4, async (name, items) => {
      sent.push(`${name} ${items.join(' ')}`);
      await soon();
      return items.length;
    });
    const answers = [1, 2, 3, 4, 5, 6, 7].map((item) => batcher.add('a', item));
    const other = batcher.add('b', 8);
    expect(await Promise.all(answers)).toEqual([1, 4, 4, 4, 4, 2, 2]);
    expect(await other).toBe(1);
    expect(sent).toEqual(['a 1', 'b 8', 'a 2 3 4 5', 'a 6 7']);
    expect(await batcher.add('a', 9)).toBe(1);
  });

  it('waits for further items where there is a pause', async () => {
    const sent: string[] = [];
    const send = async (_name: string, items: readonly number[]): Promise<void> => void sent.push(items.join(' '));
    const batcher = new Batcher<number, void>(2, send, 20);
    const first = batcher.add('a', 1);
    await soon();
    await Promise.all([first, batcher.add('a', 2), batcher.add('a', 3)]);
    expect(sent).toEqual(['1 2', '3']);
  });

  it('rejects the items of a failed batch only', async () => {
    const batcher = new Batcher<string, string>(10, async (_name, items) => {
      await soon();
      if (items.includes('bad')) throw new Error('refused');
      return 'taken';
    });
    const answers = ['first', 'bad', 'beside'].map((item) => batcher.add('a', item));
    const [first, bad, beside] = await Promise.allSettled(answers);
    expect(first).toMatchObject({ value: 'taken' });
    expect([bad?.status, beside?.status]).toEqual(['rejected', 'rejected']);
    expect(await batcher.add('a', 'later')).toBe('taken');
  });
});
