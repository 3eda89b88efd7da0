import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Problem } from '../../src/definition/document/types.ts';
import { RETRY_POLICIES, resolveRetry } from '../../src/steps/compile/retry.ts';
import { parseDuration } from '../../src/template/duration.ts';

const problems: Problem[] = [];
const report = (pointer: string, code: string, message: string): void => {
  problems.push({ pointer, code, message });
};

it('knows policies by name, and says which there are', () => {
  expect(resolveRetry('quick', RETRY_POLICIES.default, '/retry', report)).toMatchObject({
    maxAttempts: 3,
    initialIntervalMs: 200,
    maximumIntervalMs: 30_000,
  });
  expect(resolveRetry('none', RETRY_POLICIES.default, '/retry', report).maxAttempts).toBe(1);
  expect(problems).toEqual([]);
  expect(resolveRetry('slow' as 'quick', RETRY_POLICIES.default, '/retry', report)).toBe(RETRY_POLICIES.default);
  expect(problems).toEqual([{ pointer: '/retry', code: 'invalid_retry', message: "There is no retry policy 'slow'." }]);
});

describe('LANGUAGE.md §1', () => {
  it('tells the defaults of config.retryPolicy', () => {
    const text = readFileSync(new URL('../../src/definition/LANGUAGE.md', import.meta.url), 'utf8');
    const [, written = ''] = /retryPolicy: (\{.*\}) +# defaults/.exec(text) ?? [];
    const read = parse(written) as { [member: string]: number | string };
    const { nonRetryable: _none, initialIntervalMs, maximumIntervalMs, ...rest } = RETRY_POLICIES.default;
    expect({
      ...read,
      initialInterval: parseDuration(String(read['initialInterval']))?.ms,
      maximumInterval: parseDuration(String(read['maximumInterval']))?.ms,
    }).toEqual({ ...rest, initialInterval: initialIntervalMs, maximumInterval: maximumIntervalMs });
  });
});
