import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { unaudited, type WriteAccess } from '../../src/client/temporal/access.ts';
import { write, writeAlong } from '../../src/client/temporal/rpc.ts';
import { aboutToChange, announcing } from '../../src/gateway/http/audit-barrier.ts';

const access = {
  client: { withDeadline: (_at: number, act: () => unknown) => act() },
  beforeWrite: aboutToChange,
} as unknown as WriteAccess;

describe('changes', () => {
  it('are made after they were announced, once for a request', async () => {
    const told: string[] = [];
    const announce = async () => {
      await delay(5);
      told.push('announced');
    };
    await announcing(announce, () =>
      Promise.all([
        write(access, 'a', async () => told.push('first')),
        writeAlong(access, async () => told.push('second')),
      ]),
    );
    expect(told[0]).toBe('announced');
    expect(told.slice(1).sort()).toEqual(['first', 'second']);
  });

  it('are not made where they cannot be announced', async () => {
    const told: string[] = [];
    const announce = async () => {
      throw new Error('The audit is away.');
    };
    const act = () => write(access, 'a', async () => told.push('changed'));
    await expect(announcing(announce, act)).rejects.toThrow('The audit is away.');
    await expect(announcing(announce, () => writeAlong(access, async () => told.push('sent')))).rejects.toThrow();
    expect(told).toEqual([]);
  });

  it('announce themselves without being announced', async () => {
    const told: string[] = [];
    const announce = () => writeAlong(unaudited(access), async () => void told.push('announced'));
    await announcing(announce, () => write(access, 'a', async () => told.push('changed')));
    expect(told).toEqual(['announced', 'changed']);
  });

  it('need no announcement elsewhere', async () => {
    await expect(write(access, 'a', async () => 'done')).resolves.toBe('done');
  });
});
