// TypeScript refuses members that Kubernetes' objects do not have, such as misspelled ones, which its schemas let pass.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/cli/start/project-root.ts';
import { type Manifest, objects } from './manifests.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-kubernetes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What tsc says of the objects as literals of their types. */
async function refusals(all: readonly Pick<Manifest, 'apiVersion' | 'kind' | 'body'>[]): Promise<string> {
  const lines = all.flatMap(({ apiVersion, kind, body }, index) => [
    `import type { I${kind} as Type${index} } from 'kubernetes-models/${apiVersion}';`,
    `export const object${index}: Type${index} = ${JSON.stringify(body)};`,
  ]);
  writeFileSync(join(folder, 'objects.ts'), lines.join('\n'));
  const packages = join(projectRoot(), 'node_modules', 'kubernetes-models');
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [], target: 'ES2023' },
    ...{ module: 'ESNext', moduleResolution: 'bundler', paths: { 'kubernetes-models/*': [`${packages}/*`] } },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['objects.ts'] }));
  const tsc = join(projectRoot(), 'node_modules/typescript/bin/tsc');
  return promisify(execFile)(process.execPath, [tsc, '-p', folder]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
}

describe('deploy/kubernetes', () => {
  it('has no members that Kubernetes does not know', async () => {
    const all = objects();
    expect(all.length).toBeGreaterThan(10);
    expect(await refusals(all)).toBe('');
  });

  it('would not get away with a misspelled one', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, dta: {} };
    expect(await refusals([{ apiVersion: 'v1', kind: 'ConfigMap', body }])).toContain('\'"dta"\' does not exist');
  });
});
