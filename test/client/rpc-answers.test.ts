import { ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { toClientError } from '../../src/client/temporal/rpc.ts';

/** An error of the gRPC library, as the SDK wraps it. */
function refusal(code: number, details: string): Error {
  const cause = Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
  return new ServiceError('Unexpected error while calling Temporal', { cause });
}

describe('errors for callers where Temporal refuses', () => {
  it.each([
    [
      'a worker that fails its tasks',
      9,
      'Update-with-Start could not be executed: Workflow Task in failed state.',
      /worker/,
    ],
    ['a broken connection', 13, 'Received RST_STREAM with code 2 (Internal server error)', /does not answer/],
    ['an unavailable database', 14, 'no usable database connection found', /database/],
    [
      'nobody at the address',
      14,
      'No connection established. Last error: connect ECONNREFUSED 10.1.2.3:7233',
      /connected/,
    ],
    ['a read that took too long', 4, 'Deadline exceeded', /does not answer/],
    ['a key that is not valid any more', 16, 'invalid API key', /credentials/],
    [
      'a search attribute that was removed',
      3,
      'Namespace signalbox has no mapping defined for search attribute SignalboxStatus',
      /search attribute/,
    ],
    ['a key without permission', 7, 'Request unauthorized.', /credentials/],
  ])('%s is 503, and no fault of the gateway', (_what, code, details, text) => {
    const error = toClientError(refusal(code, details), false);
    expect(error).toMatchObject({ code: 'temporal_unreachable', message: expect.stringMatching(text) });
    expect((error as Error).message).not.toContain(details);
    expect((error as Error).message).not.toMatch(/10\.1\.2\.3/);
  });

  it('names a namespace that was deleted, also where the SDK says so', () => {
    expect(toClientError(new NamespaceNotFoundError('signalbx'), true)).toMatchObject({
      code: 'temporal_unreachable',
      message: expect.stringContaining('namespace'),
    });
  });

  it.each([
    [3, 'invalid query: no mapping defined for search attribute Mine'],
    [9, 'mismatched conflict token'],
    [13, 'serialization failed'],
  ])('an answer that a repetition does not change stays as it is: %s', (code, details) => {
    const error = refusal(code, details);
    expect(toClientError(error, true)).toBe(error);
  });
});
