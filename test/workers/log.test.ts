import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { loggedError } from '../../workers/log.ts';

const failure = ApplicationFailure.create({
  type: 'http_status',
  message: 'The server answered 500.',
  details: [{ body: 'data' }],
});

describe('an error in the log of a worker', () => {
  it('has its code, its message and its cause, and no details', () => {
    expect(loggedError(failure, false)).toEqual({ type: 'http_status', message: 'The server answered 500.' });
    expect(loggedError(new Error('Outer', { cause: failure }), false)).toEqual({
      type: 'Error',
      message: 'Outer',
      cause: { type: 'http_status', message: 'The server answered 500.' },
    });
    expect(loggedError('text', false)).toBe('text');
  });

  it('has its code only, where histories are encrypted, and ends', () => {
    expect(loggedError(failure, true)).toEqual({ type: 'http_status' });
    const circular = new Error('round');
    circular.cause = circular;
    expect(JSON.stringify(loggedError(circular, false)).match(/round/g)).toHaveLength(4);
  });
});
