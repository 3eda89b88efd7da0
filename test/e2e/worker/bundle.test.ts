// What runs in the sandbox is the prebuilt bundle: it holds no zod (TEMPORAL.md §1), and no package of Node's side.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compiledRoot } from '../../../src/cli/start/project-root.ts';

const [code, map] = split(readFileSync(join(compiledRoot(), 'workflow-bundle.js'), 'utf8'));

/** The code, and the names of the modules that its source map lists. */
function split(bundle: string): [string, string[]] {
  const mark = '//# sourceMappingURL=data:application/json;charset=utf-8;base64,';
  const at = bundle.lastIndexOf(mark);
  const { sources } = JSON.parse(Buffer.from(bundle.slice(at + mark.length), 'base64').toString()) as {
    sources: string[];
  };
  return [bundle.slice(0, at), sources];
}

it('holds the interpreter, with a source map for its stacks', () => {
  expect(map.some((source) => source.includes('engine/advance'))).toBe(true);
});

it('holds no zod, and nothing of the gateway, the client or the activities', () => {
  expect(map.filter((source) => /node_modules\/(zod|express|undici|pino)\//.test(source))).toEqual([]);
  expect(map.filter((source) => /src\/(gateway|client|cli|check)\/|\/activities\//.test(source))).toEqual([]);
  expect(code).not.toMatch(/ZodType|_zod\b.*def:/);
});
