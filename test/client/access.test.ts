import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Access, accessWithAudit, unaudited } from '../../src/client/temporal/access.ts';
import { write, writeUnqueued } from '../../src/client/temporal/rpc.ts';

const access = {
  client: { withDeadline: (_at: number, act: () => unknown) => act() },
} as unknown as Access;

describe('changes', () => {
  it('are made after the audit record, which is made once for a request', async () => {
    const calls: string[] = [];
    const recordChange = async () => {
      await delay(5);
      calls.push('recorded');
    };
    const audited = accessWithAudit(access, recordChange);
    await Promise.all([
      write(audited, 'rest', 'a', async () => calls.push('first')),
      writeUnqueued(audited, 'rest', async () => calls.push('second')),
    ]);
    expect(calls[0]).toBe('recorded');
    expect(calls.slice(1).sort()).toEqual(['first', 'second']);
  });

  it('are not made where they cannot be recorded', async () => {
    const calls: string[] = [];
    const recordChange = async () => {
      throw new Error('The audit is unavailable.');
    };
    const audited = accessWithAudit(access, recordChange);
    await expect(write(audited, 'rest', 'a', async () => calls.push('changed'))).rejects.toThrow(
      'The audit is unavailable.',
    );
    await expect(writeUnqueued(audited, 'rest', async () => calls.push('sent'))).rejects.toThrow();
    expect(calls).toEqual([]);
  });

  it('are recorded by a write that is not recorded itself', async () => {
    const calls: string[] = [];
    const recordChange = () => writeUnqueued(unaudited(access), 'rest', async () => void calls.push('recorded'));
    await write(accessWithAudit(access, recordChange), 'rest', 'a', async () => calls.push('changed'));
    expect(calls).toEqual(['recorded', 'changed']);
  });

  it('need no audit record where they are unaudited', async () => {
    await expect(write(unaudited(access), 'rest', 'a', async () => 'done')).resolves.toBe('done');
  });
});
