// `npm run bench`: the table of test/bench. `-- --json` prints a list of {name, value, unit, aim, pass};
// `-- --only TEXT` measures the rows whose names hold the text.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkNode, install } from './install.mjs';
import { run } from './progress.mjs';

checkNode();
const root = fileURLToPath(new URL('..', import.meta.url));
const [json, only] = [process.argv.includes('--json'), process.argv[process.argv.indexOf('--only') + 1]];
const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
const out = join(folder, 'rows.json');
try {
  await install();
  const env = { ...process.env, SIGNALBOX_BENCH_OUT: out };
  if (process.argv.includes('--only')) env.SIGNALBOX_BENCH_ONLY = only;
  await run(
    'Measuring',
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'bench'],
    {
      cwd: root,
      env,
      quiet: json,
    },
  );
  const { table, rows } = JSON.parse(readFileSync(out, 'utf8'));
  console.log(json ? JSON.stringify(rows, null, 2) : table);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
