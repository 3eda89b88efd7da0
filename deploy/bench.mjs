// `npm run bench`: prints the table of test/bench. `-- --json` prints a list of {name, value, unit, aim, pass};
// `-- --only TEXT` measures the rows whose names contain the text. `-- --peers` measures Restate and DBOS beside.
// `-- --chart FOLDER` writes the figures of what users get to FOLDER, as figures.json, figures.md and figures.svg.
// `-- --postgres` measures what a run costs on a Temporal server with PostgreSQL, which it builds (once), and nothing
// else; with `--chart` it writes production.json and production.md.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figuresTable, writeChart } from './bench/figures.mjs';
import { needsTable, writeNeeds } from './bench/needs.mjs';
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
  const measure = (...files) =>
    run(
      'Measuring',
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'bench', ...files],
      {
        cwd: root,
        env,
        quiet: json,
      },
    );
  if (process.argv.includes('--postgres')) await production(env, measure);
  else {
    await measure();
    report();
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** What a run costs on PostgreSQL. */
async function production(env, measure) {
  const { build } = await import('./build.mjs');
  await build();
  const { buildServer } = await import('./postgres/build.mjs');
  const { startServerOnPostgres } = await import('./postgres/server.mjs');
  const { address, pids, postgresPort, stop } = await startServerOnPostgres(await buildServer());
  try {
    env.TEMPORAL_ADDRESS = address;
    env.SIGNALBOX_BENCH_POSTGRES = JSON.stringify({ ...pids, port: postgresPort });
    await measure('test/bench/production.bench.ts');
  } finally {
    await stop();
  }
  const costs = JSON.parse(readFileSync(join(folder, 'production.json'), 'utf8'));
  console.log(json ? JSON.stringify(costs, null, 2) : needsTable(costs));
  if (chart !== undefined) writeNeeds(costs, chart);
}

function report() {
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
