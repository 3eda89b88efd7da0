// What runs in the sandbox is the prebuilt bundle: it holds no zod (TEMPORAL.md §1), and no package of Node's side.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compiledRoot, projectRoot } from '../../../src/cli/start/project-root.ts';

const code = readFileSync(join(compiledRoot(), 'workflow-bundle.js'), 'utf8');
/** The paths of the modules. */
const modules = [...code.matchAll(/^\/\*\*\*\/ "(.+)"$/gm)].map(([, path]) => path!);

it('holds the interpreter, whose modules it names alike on each machine and in each build', () => {
  expect(modules).toContain('./dist/.next/src/engine/advance.js');
  expect(code).not.toContain(projectRoot());
});

it('holds a source map, which the SDK demands, without positions', () => {
  const mark = '//# sourceMappingURL=data:application/json;base64,';
  const map = Buffer.from(code.slice(code.lastIndexOf(mark) + mark.length), 'base64').toString();
  expect(JSON.parse(map)).toEqual({ version: 3, file: 'workflow-bundle.js', sources: [], names: [], mappings: '' });
});

it('holds no zod, and nothing of the gateway, the client or the activities', () => {
  expect(modules.filter((source) => /node_modules\/(zod|express|undici|pino)\//.test(source))).toEqual([]);
  expect(modules.filter((source) => /src\/(gateway|client|cli|check)\/|\/activities\//.test(source))).toEqual([]);
  const internals = modules.filter((source) => source.includes('/src/temporal-internals/'));
  expect(internals).toEqual(['./dist/.next/src/temporal-internals/cancelled-flag.js']);
  expect(code).not.toMatch(/ZodType|_zod\b.*def:/);
});
