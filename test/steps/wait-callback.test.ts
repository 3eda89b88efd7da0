import { describe, expect, it } from 'vitest';
import { waitCallback } from '../../src/steps/kinds/wait-callback.ts';
import { begin, Driven, NOW } from './kind-driver.ts';

const called = (payload: { ok?: boolean }) =>
  ({ on: 'message', payload, message: { name: 'callback:step', payload, bytes: 0 } }) as const;

describe('wait_callback', () => {
  it('waits for the message that a call of its URL becomes', () => {
    expect(begin(waitCallback, { timeout: '1h' })).toMatchObject({
      do: 'suspend',
      waiting: { kind: 'callback', name: 'callback:step', until: NOW + 3_600_000 },
      timers: [{ at: NOW + 3_600_000 }],
    });
  });

  it('takes one that came before', () => {
    const inbox = [
      { name: 'callback:step#2', payload: 'not mine' },
      { name: 'callback:step', payload: { ok: 'what?' } },
      { name: 'callback:step', payload: { ok: true } },
    ];
    expect(begin(waitCallback, { schema: { ok: 'boolean' } }, { inbox })).toEqual({
      do: 'end',
      port: 'received',
      data: { ok: true },
    });
  });

  it('leaves one that does not fit its schema', () => {
    const driven = new Driven(waitCallback, { schema: { ok: 'boolean' } });
    driven.begin();
    expect(driven.resume(called({}))).toEqual({ do: 'ignore' });
    expect(driven.resume(called({ ok: false }))).toMatchObject({ port: 'received' });
  });

  it('ends by timeout', () => {
    const driven = new Driven(waitCallback, { timeout: 100 });
    driven.begin();
    expect(driven.fire(100)).toEqual({ do: 'end', port: 'timeout', data: null });
  });

  it.each([[[]], ['POST'], [['post']], [['TRACE']]])('cannot be planned with methods %j', (methods) => {
    expect(() => begin(waitCallback, { methods })).toThrow(/Expected a list of/);
  });
});
