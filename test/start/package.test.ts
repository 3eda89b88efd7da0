// What `npm pack` puts into the package. test/start/package.long.test.ts installs it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { pack } from './packing.ts';

const MAX_BYTES = 4_000_000;

const folder = mkdtempSync(join(tmpdir(), 'signalbox-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { bytes, files } = pack(folder);
const read = (file: string): string => readFileSync(join(projectRoot(), file), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  readonly private?: boolean;
  readonly bin: { readonly [name: string]: string };
  readonly exports: { readonly [entry: string]: { readonly types: string; readonly default: string } };
  readonly imports: { readonly [name: string]: string };
  readonly dependencies: { readonly [name: string]: string };
  readonly optionalDependencies: { readonly [name: string]: string };
};

it('is small, and holds no sources, tests or source maps', () => {
  expect(bytes).toBeLessThan(MAX_BYTES);
  const own = files.filter((file) => !file.startsWith('deploy/project/'));
  expect(own.filter((file) => /\.(map|tsx)$|(?<!\.d)\.m?ts$|\.test\./.test(file))).toEqual([]);
  // The manual shows these programs.
  const programs = own.filter((file) => /(^|\/)test\//.test(file));
  const examples = read('src/gateway/manual/pages/examples.md');
  expect(programs.filter((file) => !examples.includes(`/${file.replace('dist/', '')} `))).toEqual([]);
  expect(programs).not.toEqual([]);
});

it('may be published, and holds each file that its manifest names', () => {
  expect(manifest.private).toBeUndefined();
  const named = [
    ...Object.values(manifest.bin),
    ...Object.values(manifest.exports).flatMap((entry) => Object.values(entry)),
    ...Object.values(manifest.imports),
  ];
  expect(named.filter((file) => !files.includes(posix.normalize(file)))).toEqual([]);
  expect(named.some((file) => file.endsWith('.d.ts'))).toBe(true);
});

it('imports only its own files, and packages that are installed with it', () => {
  const installed = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
  const missing = files
    // The last two are bundles, and hold what they need.
    .filter((file) => /\.(m?js|d\.ts)$/.test(file) && !/^dist\/(console\/|workflow-bundle)/.test(file))
    .flatMap((file) =>
      importsOf(read(file))
        .filter((name) => {
          if (name.startsWith('.')) return !files.includes(posix.join(posix.dirname(file), name));
          if (name.startsWith('#')) return !(name in manifest.imports);
          const [scope, rest] = name.split('/');
          const needed = name.startsWith('@') ? `${scope}/${rest}` : scope!;
          return !isBuiltin(name) && needed !== 'signalbox' && !installed.has(needed);
        })
        .map((name) => `${file} imports ${name}`),
    );
  expect(missing).toEqual([]);
});

/** The names of modules in a compiled file, without its comments. */
function importsOf(code: string): string[] {
  const text = code.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  return [...text.matchAll(/\b(?:from|import\()\s*'([^'\s,]+)'|^import '([^'\s]+)'/gm)].map(([, a, b]) => (a ?? b)!);
}
