// `npm test`: from a bare clone to the end of all tests. Plain Node, since nothing is installed yet.
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

const begun = Date.now();
try {
  await install();
  await tool('Lint and format', '@biomejs/biome/bin/biome', 'check', '.');
  await tool('Types', 'typescript/bin/tsc', '--noEmit');
  const { build } = await import('./build.mjs');
  await build();
  await tool('Quick tests', 'vitest/vitest.mjs', 'run', '--project', 'quick');
  if (!process.env.TEMPORAL_ADDRESS) {
    const { obtainTemporal } = await import('../dist/src/cli/start/obtain-temporal.js');
    const { version, source } = await obtainTemporal();
    say(`Temporal ${version}, from ${source}.`);
  }
  await tool('End-to-end tests', 'vitest/vitest.mjs', 'run', '--project', 'e2e');
  if (spawnSync('bwrap', ['--version']).status !== 0)
    say('Not tested: the sandbox of bash steps, since there is no bubblewrap here.');
  say(`All tests passed after ${Math.round((Date.now() - begun) / 1000)} s.`);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
