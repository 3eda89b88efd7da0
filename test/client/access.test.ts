import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Access, announcing, unaudited } from '../../src/client/temporal/access.ts';
import { write, writeAlong } from '../../src/client/temporal/rpc.ts';

const access = {
  client: { withDeadline: (_at: number, act: () => unknown) => act() },
} as unknown as Access;

describe('changes', () => {
  it('are made after they were announced, once for a request', async () => {
    const told: string[] = [];
    const announce = async () => {
      await delay(5);
      told.push('announced');
    };
    const announced = announcing(access, announce);
    await Promise.all([
      write(announced, 'rest', 'a', async () => told.push('first')),
      writeAlong(announced, 'rest', async () => told.push('second')),
    ]);
    expect(told[0]).toBe('announced');
    expect(told.slice(1).sort()).toEqual(['first', 'second']);
  });

  it('are not made where they cannot be announced', async () => {
    const told: string[] = [];
    const announce = async () => {
      throw new Error('The audit is away.');
    };
    const announced = announcing(access, announce);
    await expect(write(announced, 'rest', 'a', async () => told.push('changed'))).rejects.toThrow('The audit is away.');
    await expect(writeAlong(announced, 'rest', async () => told.push('sent'))).rejects.toThrow();
    expect(told).toEqual([]);
  });

  it('announce themselves without being announced', async () => {
    const told: string[] = [];
    const announce = () => writeAlong(unaudited(access), 'rest', async () => void told.push('announced'));
    await write(announcing(access, announce), 'rest', 'a', async () => told.push('changed'));
    expect(told).toEqual(['announced', 'changed']);
  });

  it('need no announcement elsewhere', async () => {
    await expect(write(unaudited(access), 'rest', 'a', async () => 'done')).resolves.toBe('done');
  });
});
