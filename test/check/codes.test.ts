import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CODES } from '../../src/check/codes.ts';

/**
 * Codes where problems are created: `code: 'x'`, `problem(at, 'x'`, `context.addWarning(at, 'x'`, `refuse('x'`,
 * `ConfigError('x'`.
 */
const WRITTEN =
  /(?:code: |(?:[pP]roblem|Warning|report|refuse|ConfigError)\((?:[^'()]|\([^()]*\))*?,?\s*)'([a-z]+(?:_[a-z]+)+)'/g;

function codesIn(folder: string, only: (name: string) => boolean = () => true): string[] {
  const url = new URL(`../../src/${folder}/`, import.meta.url);
  return readdirSync(url, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && only(basename(name)))
    .flatMap((name) => [...readFileSync(new URL(name, url), 'utf8').matchAll(WRITTEN)].map(([, code]) => code ?? ''));
}

describe('the table of codes', () => {
  it('has every code that a problem of a definition is made with', () => {
    const definition = codesIn('definition');
    const compiler = codesIn('steps', (name) =>
      ['program.ts', 'compile-step.ts', 'compile-dag.ts', 'dag.ts', 'regions.ts', 'condition.ts', 'switch.ts'].includes(
        name,
      ),
    );
    const used = new Set([...definition, ...codesIn('check'), ...compiler]);
    expect([...used].filter((code) => !Object.hasOwn(CODES, code))).toEqual([]);
    expect(used.size).toBeGreaterThan(40);
  });

  it('says of each in a sentence what it means', () => {
    for (const [code, meaning] of Object.entries(CODES)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(meaning).toMatch(/^[A-Z&].{10,}\.$|^[a-z]+ .{10,}\.$/);
    }
  });
});
