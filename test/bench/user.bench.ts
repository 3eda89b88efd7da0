// What users get: Signalbox through its gateway, beside workflows written by hand on the same Temporal server, and with
// SIGNALBOX_BENCH_PEERS=1 (`npm run bench -- --peers`) beside Restate and DBOS. Every round measures all of them, one
// after the other. Not a test: nothing fails here for being slow.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, it } from 'vitest';
import { freePorts, postgresFolder, startPostgres } from '../../deploy/postgres/server.mjs';
import { byHand } from './contenders/by-hand.ts';
import { type Contender, cpuSeconds, idle, residentBytes, runConcurrently } from './contenders/contender.ts';
import { dbos, installPeers, restate } from './contenders/peers.ts';
import { signalbox } from './contenders/signalbox.ts';
import { type Figures, handOver, handOverFigures, median, only, type Row, timed } from './rows.ts';

const [RUNS, AT_ONCE] = [150, 50];
const APPROVALS = 1_000;
const WAITING = 2_000;
const MEGABYTE = 1_000_000;
/** A gateway refuses more writes than wait in its queue (`too_busy`), so this many approvals are sent at a time. */
const APPROVALS_AT_ONCE = 500;

interface Work {
  readonly name: string;
  readonly unit: string;
  /** Where more is better. */
  readonly isRate?: true;
  readonly rounds: number;
  /** Rounds that do not count, while code is compiled and caches fill. */
  readonly warmUp?: number;
  /** Undefined where the contender has nothing of the kind. */
  measure(contender: Contender): Promise<number | undefined>;
}

const three = (contender: Contender): Promise<void> => runConcurrently(RUNS, AT_ONCE, () => contender.sequence(3));

/** A run that waits, and what is done with it. */
async function parked(contender: Contender, act: (id: string) => Promise<void>): Promise<() => Promise<void>> {
  const id = await contender.park();
  await new Promise((resolve) => setTimeout(resolve, 250));
  return () => act(id);
}

const WORKS: readonly Work[] = [
  {
    // After 50 rounds the code of all contenders is compiled, and the processor time of a run falls no more.
    name: '40 steps, a step',
    unit: 'ms',
    rounds: 25,
    warmUp: 50,
    measure: async (contender) => (await timed(() => contender.sequence(40))) / 40,
  },
  {
    name: '1,000 steps',
    unit: 's',
    rounds: 4,
    warmUp: 2,
    measure: async (contender) => (await timed(() => contender.sequence(1_000))) / 1_000,
  },
  {
    name: 'runs of 3 steps, 50 at once',
    unit: 'runs/s',
    isRate: true,
    rounds: 5,
    measure: async (contender) => (RUNS / (await timed(() => three(contender)))) * 1_000,
  },
  {
    name: 'processor time of 1,000 runs of 3 steps',
    unit: 's',
    rounds: 3,
    measure: async (contender) => {
      const before = cpuSeconds(contender.processes);
      await three(contender);
      return ((cpuSeconds(contender.processes) - before) / RUNS) * 1_000;
    },
  },
  {
    name: 'an approval, to the result',
    unit: 'ms',
    rounds: 21,
    warmUp: 5,
    measure: async (contender) => timed(await parked(contender, (id) => contender.approve(id))),
  },
  {
    name: 'the same by a signal of the SDK',
    unit: 'ms',
    rounds: 21,
    warmUp: 5,
    measure: async (contender) =>
      contender.signal && timed(await parked(contender, async (id) => contender.signal?.(id))),
  },
  {
    name: `${APPROVALS.toLocaleString('en')} waiting runs approved`,
    unit: 's',
    rounds: 1,
    measure: async (contender) => {
      const ids: string[] = [];
      await runConcurrently(APPROVALS, 20, async () => ids.push(await contender.park()));
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return (
        (await timed(() => runConcurrently(APPROVALS, APPROVALS_AT_ONCE, (n) => contender.approve(ids[n]!)))) / 1_000
      );
    },
  },
  {
    // The last one: these runs wait for ever.
    name: `memory of the worker with ${WAITING.toLocaleString('en')} waiting runs`,
    unit: 'MB',
    rounds: 1,
    measure: async ({ worker, park }) => {
      if (worker === undefined) return undefined;
      await runConcurrently(WAITING, 20, park);
      // A start is answered before the run waits.
      await idle(worker);
      return residentBytes(worker) / MEGABYTE;
    },
  },
];

interface Aim {
  readonly work: number;
  readonly of: string;
  readonly to: string;
  /** What the other does, if not the same work. */
  readonly toWork?: number;
  readonly aim: Row['aim'];
}

/** Names of contenders, and what their ratio aims at. */
const AIMS: readonly Aim[] = [
  { work: 0, of: 'Signalbox', to: 'Temporal by hand', aim: { most: 1.1 } },
  { work: 1, of: 'Signalbox', to: 'Temporal by hand', aim: { most: 1.1 } },
  { work: 0, of: 'Signalbox, light steps', to: 'Temporal by hand, local activities', aim: { most: 1 } },
  { work: 2, of: 'Signalbox, light steps', to: 'Temporal by hand', aim: { least: 1.2 } },
  { work: 2, of: 'Signalbox, light steps', to: 'Temporal by hand, local activities', aim: { least: 0.9 } },
  { work: 4, of: 'Signalbox', to: 'Signalbox', toWork: 5, aim: { most: 1.5 } },
  { work: 4, of: 'Signalbox, light steps', to: 'Signalbox, light steps', toWork: 5, aim: { most: 1.5 } },
  { work: 7, of: 'Signalbox', to: 'Temporal by hand', aim: { most: 1 } },
  { work: 0, of: 'Signalbox, light steps', to: 'Restate', aim: { most: 0.8 } },
  { work: 1, of: 'Signalbox, light steps', to: 'Restate', aim: { most: 0.25 } },
];
const nameOf = ({ work, of, to, toWork }: Aim): string =>
  `user: ${WORKS[work]!.name}: ${of} / ${toWork === undefined ? to : WORKS[toWork]!.name}`;

it('measures what users get', { timeout: 3_600_000 }, async () => {
  const wanted = AIMS.filter((aim) => only(nameOf(aim)));
  if (wanted.length === 0) {
    handOver('user', []);
    return;
  }
  const isWhole = [undefined, 'user:'].includes(process.env['SIGNALBOX_BENCH_ONLY']);
  const works = WORKS.filter((_, n) => isWhole || wanted.some(({ work, toWork }) => work === n || toWork === n));
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  const stops: (() => Promise<void>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  try {
    const contenders = await begin(folder, stops);
    const values = await measure(contenders, works);
    const figures: Figures = {
      contenders: contenders.map(({ name, settings }) => ({ name, settings })),
      works: works.map(({ name, unit, isRate }) => ({
        name,
        unit,
        ...(isRate === undefined ? {} : { isRate }),
        values: Object.fromEntries(
          contenders.flatMap((contender) => {
            const measured = values.get(`${name} ${contender.name}`);
            return measured === undefined ? [] : [[contender.name, median(measured)]];
          }),
        ),
      })),
    };
    handOverFigures(figures);
    const ratios = wanted.flatMap((aim): Row[] => {
      const [{ name }, other] = [WORKS[aim.work]!, WORKS[aim.toWork ?? aim.work]!];
      const [ours = [], theirs = []] = [values.get(`${name} ${aim.of}`), values.get(`${other.name} ${aim.to}`)];
      if (theirs.length === 0) return [];
      return [{ name: nameOf(aim), unit: '', aim: aim.aim, value: median(ours.map((own, n) => own / theirs[n]!)) }];
    });
    handOver('user', ratios);
  } finally {
    for (const stop of stops.reverse()) await stop().catch(() => undefined);
  }
});

async function begin(folder: string, stops: (() => Promise<void>)[]): Promise<readonly Contender[]> {
  const address = inject('temporalAddress');
  const server = processesOn(address.slice(address.lastIndexOf(':') + 1));
  const ours = await signalbox(address, server);
  stops.push(ours.stop);
  const hand = await byHand(address, server, folder);
  stops.push(hand.stop);
  const own = [ours.regular, ours.light, hand.regular, hand.local];
  if (process.env['SIGNALBOX_BENCH_PEERS'] !== '1') return own;
  await installPeers(folder);
  const ports: readonly number[] = await freePorts(6);
  const [appPort = 0, databasePort = 0, ...others] = ports;
  const peer = await restate(folder, others);
  stops.push(peer.stop);
  try {
    postgresFolder();
  } catch {
    console.log('There is no PostgreSQL here, so DBOS is left out.');
    return [...own, peer];
  }
  const data = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
  stops.push(async () => rmSync(data, { recursive: true, force: true }));
  // As SQLite does here: a commit does not wait for the disk.
  const postgres = await startPostgres(data, databasePort, { synchronous_commit: 'off' });
  stops.push(postgres.end);
  const url = `postgresql://temporal@127.0.0.1:${databasePort}/bench`;
  const durability = 'WAL, synchronous_commit=off';
  const other = await dbos(folder, appPort, { url, pid: postgres.pid, durability });
  stops.push(other.stop);
  return [...own, peer, other];
}

/** All values, by `work contender`. */
async function measure(contenders: readonly Contender[], works: readonly Work[]): Promise<Map<string, number[]>> {
  const values = new Map<string, number[]>();
  for (const work of works) {
    const warmUp = work.warmUp ?? (work.rounds > 1 ? 1 : 0);
    for (let round = -warmUp; round < work.rounds; round++) {
      const order = round % 2 === 0 ? contenders : [...contenders].reverse();
      for (const contender of order) {
        const value = await work.measure(contender);
        if (round < 0 || value === undefined) continue;
        const key = `${work.name} ${contender.name}`;
        values.set(key, [...(values.get(key) ?? []), value]);
      }
    }
  }
  return values;
}

/** The pids of the processes that were started with this port. */
function processesOn(port: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0--port\0${port}\0`);
      } catch {
        return false;
      }
    })
    .map(Number);
}
