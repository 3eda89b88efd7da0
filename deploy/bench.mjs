// `npm run bench`: prints the table of test/bench. `-- --json` prints a list of {name, value, unit, aim, pass};
// `-- --only TEXT` measures the rows whose names contain the text. `-- --peers` measures Restate and DBOS beside.
// `-- --chart FOLDER` writes the figures of what users get to FOLDER, as figures.json, figures.md and figures.svg.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figuresTable, writeChart } from './bench/figures.mjs';
import { checkNode, install } from './install.mjs';
import { run } from './progress.mjs';

checkNode();
const root = fileURLToPath(new URL('..', import.meta.url));
const after = (option) => (process.argv.includes(option) ? process.argv[process.argv.indexOf(option) + 1] : undefined);
const [json, only, chart] = [process.argv.includes('--json'), after('--only'), after('--chart')];
const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
try {
  await install();
  const env = { ...process.env, SIGNALBOX_BENCH_OUT: folder };
  if (only !== undefined) env.SIGNALBOX_BENCH_ONLY = only;
  if (process.argv.includes('--peers')) env.SIGNALBOX_BENCH_PEERS = '1';
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
  const rows = ['core', 'temporal', 'user', 'console'].flatMap((part) =>
    JSON.parse(readFileSync(join(folder, `${part}.json`), 'utf8')),
  );
  if (rows.length === 0) throw new Error(`No row has a name that contains '${only}'.`);
  for (const row of rows) row.pass = 'most' in row.aim ? row.value <= row.aim.most : row.value >= row.aim.least;
  console.log(json ? JSON.stringify(rows, null, 2) : table(rows));
  const file = join(folder, 'figures.json');
  if (existsSync(file)) {
    const figures = JSON.parse(readFileSync(file, 'utf8'));
    if (!json) console.log(`\n${figuresTable(figures)}`);
    if (chart !== undefined) writeChart(figures, chart);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function table(rows) {
  const lines = rows.map(({ name, value, unit, aim, pass }) => [
    name,
    `${value >= 1_000 ? Math.round(value).toLocaleString('en') : value.toFixed(3)}${unit}`,
    'most' in aim ? `≤ ${aim.most}` : `≥ ${aim.least}`,
    pass ? 'yes' : 'NO',
  ]);
  const all = [['row', 'value', 'aim', 'reached'], ...lines];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((line) => line[column].length)));
  return all.map((line) => line.map((cell, i) => (i < 3 ? cell.padEnd(widths[i]) : cell)).join('  ')).join('\n');
}
