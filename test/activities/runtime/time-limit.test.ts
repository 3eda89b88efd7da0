import { expect, it, vi } from 'vitest';
import { timeLimit } from '../../../activities/runtime/time-limit.ts';

it('is over after its time', () => {
  vi.useFakeTimers();
  try {
    const limit = timeLimit(new AbortController().signal, 50);
    vi.advanceTimersByTime(49);
    expect([limit.isOver, limit.signal.aborted]).toEqual([false, false]);
    vi.advanceTimersByTime(1);
    expect([limit.isOver, limit.signal.reason.name]).toEqual([true, 'TimeoutError']);
  } finally {
    vi.useRealTimers();
  }
});

it('passes on a cancellation, also one from before, and is not over then', () => {
  vi.useFakeTimers();
  try {
    const cancel = new AbortController();
    const limit = timeLimit(cancel.signal, 50);
    const reason = new Error('enough');
    cancel.abort(reason);
    vi.advanceTimersByTime(100);
    expect([limit.isOver, limit.signal.reason]).toEqual([false, reason]);
    expect(timeLimit(cancel.signal, 50).signal.reason).toBe(reason);
  } finally {
    vi.useRealTimers();
  }
});

it('keeps neither timer nor listener after its end', () => {
  vi.useFakeTimers();
  try {
    const cancel = new AbortController();
    const limit = timeLimit(cancel.signal, 50);
    limit.end();
    expect(vi.getTimerCount()).toBe(0);
    cancel.abort();
    expect([limit.isOver, limit.signal.aborted]).toEqual([false, false]);
  } finally {
    vi.useRealTimers();
  }
});
