import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type LockedPackage = { version?: string; integrity?: string; optionalDependencies?: Record<string, string> };

test('package-lock.json names the packages of every platform, or npm ci refuses it elsewhere', () => {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
    ),
  );
  expect(missing).toEqual([]);
  const unchecked = Object.entries(lock.packages).filter(([path, { integrity }]) => path !== '' && !integrity);
  expect(unchecked.map(([path]) => path)).toEqual([]);
});
