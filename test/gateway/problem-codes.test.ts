import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Refusal } from '../../src/contract/run/run.ts';
import { PROBLEM_CODES } from '../../src/gateway/validation/problem-codes.ts';
import { sourceRoot } from './source-root.ts';

function codesIn(folder: string, pattern: RegExp): string[] {
  const files = readdirSync(join(sourceRoot, folder), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return files.flatMap((file) =>
    [...readFileSync(join(sourceRoot, folder, file), 'utf8').matchAll(pattern)].map((found) => found[1] ?? ''),
  );
}

describe('the table of problem codes', () => {
  it('has every code that the client gives', () => {
    const codes = new Set(codesIn('src/client', /new ClientError\(\s*'([a-z_]+)'/g));
    expect(codes.size).toBeGreaterThan(10);
    for (const code of codes) expect(PROBLEM_CODES).toHaveProperty(code);
  });

  it('has every code that an actor refuses with', () => {
    const codes = new Set(codesIn('workflows', /refuse\(\s*'([a-z_]+)'/g));
    expect(codes.size).toBeGreaterThan(5);
    for (const code of codes) expect(PROBLEM_CODES).toHaveProperty(code);
  });

  it('has every code that a run refuses with', () => {
    const statuses: { readonly [code in Refusal['code']]: number } = {
      no_such_step: 404,
      ambiguous_step: 409,
      not_waiting: 409,
      already_decided: 409,
      already_voted: 409,
      not_an_approver: 403,
      requester_may_not_approve: 403,
      not_an_assignee: 403,
      invalid_submission: 422,
      needs_override: 403,
      closed: 409,
      invalid_signal: 400,
    };
    for (const [code, status] of Object.entries(statuses))
      expect(PROBLEM_CODES).toHaveProperty([code, 'status'], status);
  });
});
