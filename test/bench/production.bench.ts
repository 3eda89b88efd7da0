// What a run costs on a Temporal server with PostgreSQL (`npm run bench -- --postgres`): commits, log of the database,
// and processor time of each process. These are counts a run, so that a table can say what a rate of runs needs. Not a
// test: nothing fails here for being slow.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, it } from 'vitest';
import { type Contender, cpuSeconds, idle, runConcurrently } from './contenders/contender.ts';
import { signalbox } from './contenders/signalbox.ts';

const RUNS = 200;
const AT_ONCE = 20;
/** Backends report their statistics within a second of being idle. */
const STATISTICS_MS = 2_500;

/** What deploy/bench.mjs says of the server it started. */
interface Server {
  readonly temporal: number;
  readonly postgres: number;
  readonly port: number;
}

/** All figures are for one run: milliseconds of processor time, commits, bytes. */
export interface RunCost {
  readonly name: string;
  readonly commits: number;
  readonly logBytes: number;
  readonly dataBytes: number;
  readonly cpu: {
    readonly temporal: number;
    readonly postgres: number;
    readonly gateway: number;
    readonly worker: number;
  };
}

const given = process.env['SIGNALBOX_BENCH_POSTGRES'];

it.runIf(given !== undefined)('production', { timeout: 1_800_000 }, async () => {
  const server = JSON.parse(given ?? '') as Server;
  const { regular, light, stop } = await signalbox(inject('temporalAddress'), [server.temporal]);
  const worker = regular.worker ?? 0;
  const [stack = 0] = regular.processes;

  const query = (sql: string): number =>
    Number(
      execFileSync(
        'psql',
        ['-h', '127.0.0.1', '-p', `${server.port}`, '-U', 'temporal', '-d', 'temporal', '-Atc', sql],
        { encoding: 'utf8' },
      ),
    );
  const now = () => ({
    commits: query("select sum(xact_commit) from pg_stat_database where datname like 'temporal%'"),
    logBytes: query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"),
    dataBytes: query("select sum(pg_database_size(datname)) from pg_database where datname like 'temporal%'"),
    temporal: cpuSeconds([server.temporal]),
    postgres: cpuSeconds([server.postgres]),
    both: cpuSeconds([stack]),
    worker: cpuSeconds([worker]),
  });
  const settled = async () => {
    await idle(server.temporal);
    await new Promise((resolve) => setTimeout(resolve, STATISTICS_MS));
    return now();
  };

  async function cost(name: string, work: () => Promise<unknown>): Promise<RunCost> {
    // Definitions are stored, and what is compiled once is compiled.
    await runConcurrently(AT_ONCE, AT_ONCE, work);
    const before = await settled();
    await runConcurrently(RUNS, AT_ONCE, work);
    const after = await settled();
    const each = (of: keyof typeof before, unit = 1): number => ((after[of] - before[of]) * unit) / RUNS;
    return {
      name,
      commits: each('commits'),
      logBytes: each('logBytes'),
      dataBytes: each('dataBytes'),
      cpu: {
        temporal: each('temporal', 1_000),
        postgres: each('postgres', 1_000),
        gateway: each('both', 1_000) - each('worker', 1_000),
        worker: each('worker', 1_000),
      },
    };
  }
  const approved = async (contender: Contender): Promise<void> => contender.approve(await contender.park());

  try {
    const costs = [
      await cost('three light steps', () => light.sequence(3)),
      await cost('three regular steps', () => regular.sequence(3)),
      await cost('an approval and a regular step', () => approved(regular)),
    ];
    const folder = process.env['SIGNALBOX_BENCH_OUT'];
    if (folder !== undefined) writeFileSync(join(folder, 'production.json'), JSON.stringify(costs));
  } finally {
    await stop();
  }
});
