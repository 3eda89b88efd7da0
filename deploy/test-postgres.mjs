// `npm run test:postgres`: the end-to-end tests that touch lists, limits, schedules, history and actors, on a Temporal
// server with PostgreSQL, which it builds (once), starts and ends. `-- FILE…` runs these files only. `-- --serve`
// starts the server, prints its address and waits, for trying things by hand.
import { fileURLToPath } from 'node:url';
import { checkNode, install } from './install.mjs';
import { run, say } from './progress.mjs';

/** What depends on the database: where an entry is a folder, all of its files. */
const FILES = [
  'test/e2e/definitions',
  'test/e2e/limits',
  'test/e2e/triggers',
  'test/e2e/access/access-audit',
  'test/e2e/access/access-codec.test.ts',
  'test/e2e/access/access-isolation.test.ts',
  'test/e2e/gateway/gateway-approvals.test.ts',
  'test/e2e/gateway/gateway-bulk',
  'test/e2e/gateway/gateway-fork.test.ts',
  'test/e2e/gateway/gateway-lists',
  'test/e2e/gateway/gateway-long-trace',
  'test/e2e/gateway/gateway-malformed-runs',
  'test/e2e/gateway/gateway-retry.test.ts',
  'test/e2e/gateway/gateway-runs.test.ts',
  'test/e2e/runs',
];

checkNode();
const root = fileURLToPath(new URL('..', import.meta.url));
const given = process.argv.slice(2);
const begun = Date.now();
let stop = async () => {};
const stopAtSignal = () => stop().then(() => process.exit(1));
process.once('SIGINT', stopAtSignal);
process.once('SIGTERM', stopAtSignal);
try {
  await install();
  const { build } = await import('./build.mjs');
  await build();
  const { buildServer } = await import('./postgres/build.mjs');
  const { startServerOnPostgres } = await import('./postgres/server.mjs');
  const server = await startServerOnPostgres(await buildServer());
  stop = server.stop;
  if (given.includes('--serve')) {
    say(`TEMPORAL_ADDRESS=${server.address} (logs in ${server.folder}). Ctrl-C ends it.`);
    await new Promise(() => setInterval(() => {}, 60_000));
  }
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    'e2e',
    '--project',
    'long',
    ...(given.length > 0 ? given : FILES),
  ];
  await run('Tests on PostgreSQL', process.execPath, vitest, {
    cwd: root,
    env: { ...process.env, TEMPORAL_ADDRESS: server.address },
    show: true,
  });
  say(`All tests on PostgreSQL passed after ${Math.round((Date.now() - begun) / 1000)} s.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await stop();
}
