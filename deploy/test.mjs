// `npm test`: from a bare clone to the end of all tests but the long ones, which `npm run test:long` runs (`--long`).
// Plain Node, since nothing is installed yet.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkNode, install } from './install.mjs';
import { run, say } from './progress.mjs';

checkNode();
const root = fileURLToPath(new URL('..', import.meta.url));
const tool = (what, file, ...args) => {
  say(`${what}.`);
  return run(what, process.execPath, [join(root, 'node_modules', file), ...args], { cwd: root, show: true });
};
const tests = (what, ...projects) =>
  tool(what, 'vitest/vitest.mjs', 'run', ...projects.flatMap((project) => ['--project', project]));

/** Builds, and obtains Temporal before tests wait for it. */
async function prepare() {
  const { build } = await import('./build.mjs');
  await build();
  const { obtainTemporal } = await import('../dist/src/cli/start/obtain-temporal.js');
  const { version, source } = await obtainTemporal();
  say(`Temporal ${version}, from ${source}.`);
}

const begun = Date.now();
const isLong = process.argv.includes('--long');
try {
  await install();
  if (!isLong) {
    await tool('Lint and format', '@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.');
    await tool('Types', 'typescript/bin/tsc', '--noEmit');
    await tool('Types of the console', 'typescript/bin/tsc', '--noEmit', '-p', 'src/console');
  }
  await prepare();
  if (isLong) {
    await tests('Long tests', 'long');
    await tests('Long tests, one after the other', 'alone');
  } else {
    await tests('Quick tests', 'quick', 'slow');
    await tests('End-to-end tests', 'e2e');
  }
  if (spawnSync('bwrap', ['--version']).status !== 0)
    say('Not tested: the sandbox of bash steps, since there is no bubblewrap here.');
  say(`All ${isLong ? 'long ' : ''}tests passed after ${Math.round((Date.now() - begun) / 1000)} s.`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
