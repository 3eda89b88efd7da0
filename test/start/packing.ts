/** Packs as `npm publish` does, and installs what was packed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../src/cli/start/project-root.ts';

export interface Packed {
  /** Where the tarball is. */
  readonly tarball: string;
  readonly bytes: number;
  /** The paths of the files in it. */
  readonly files: readonly string[];
}

/** Packs a folder with a package.json into `target`. What it holds is built already. */
export function pack(target: string, folder = projectRoot()): Packed {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' })) as [
    { filename: string; size: number; files: { path: string }[] },
  ];
  return {
    tarball: join(target, packed.filename),
    bytes: packed.size,
    files: packed.files.map(({ path }) => path),
  };
}

/** Installs packages into a new folder, as in an empty project. No package needs its install script. */
export function install(folder: string, ...packages: string[]): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Whether npm reaches its registry. Without one nothing can be installed. */
export function hasRegistry(): boolean {
  const { status } = spawnSync('npm', ['view', 'zod', 'version', '--fetch-retries=0', '--fetch-timeout=10000']);
  if (status !== 0) console.log('Not tested: installing the package, since npm does not reach its registry.');
  return status === 0;
}
