/**
 * The tables of the secrets that this process has used lately, by a keyed hash of the secret. A table is built once.
 * That of a long secret may take a second, so a thread builds it. Organizations take turns there: many long secrets of
 * one delay another one's by one table.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { SHORTEST_SECRET_CHARACTERS } from '../../src/definition/document/limits.ts';
import { type Bases, randomBases } from './scrub-search.ts';
import { isQuick } from './scrub-shapes.ts';
import { bytesOfTable, type ScrubTable, scrubTableOf } from './scrub-table.ts';

/** Of all tables that are kept. That of an ordinary secret has 20 KB, the largest about 20 MB. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024;
/** Ample for the shapes of the longest secret. */
const HEAP_MB = 512;

/** With its extension: the sources in tests, the compiled files otherwise. */
const ENTRY = new URL(`./scrub-thread${extname(new URL(import.meta.url).pathname)}`, import.meta.url);

/** For all tables of this process. */
export const BASES: Bases = randomBases();

interface Job {
  readonly value: string;
  readonly resolve: (table: ScrubTable) => void;
  readonly reject: (error: unknown) => void;
}

export class ScrubTables {
  readonly #key = randomBytes(32);
  readonly #mostBytes: number;
  readonly #kept = new Map<string, ScrubTable>();
  #bytes = 0;
  /** By organization, the one whose turn it is first. */
  readonly #waiting = new Map<string, readonly Job[]>();
  readonly #underWay = new Map<string, Promise<ScrubTable>>();
  #thread: Worker | undefined;
  #doing: Job | undefined;

  /** `mostBytes`: of the tables that are kept. */
  constructor(mostBytes = MOST_KEPT_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** A table for each value that is long enough to be scrubbed. Rejects where one could not be built. */
  async of(values: readonly string[], organizationId: string): Promise<ScrubTable[]> {
    const secrets = values.filter((value) => value.length >= SHORTEST_SECRET_CHARACTERS);
    const tables: Promise<ScrubTable>[] = [];
    let built = 0;
    for (const value of secrets) {
      const id = createHmac('sha256', this.#key).update(value).digest('base64');
      const known = this.#known(id);
      if (known !== undefined) tables.push(Promise.resolve(known));
      else if (isQuick(value)) {
        // Fifty of them would hold up the other activities of the process.
        if (built++ > 0) await nextTurn();
        tables.push(Promise.resolve(this.#keep(id, scrubTableOf(value, BASES))));
      } else tables.push(this.#inThread(id, value, organizationId));
    }
    return Promise.all(tables);
  }

  #known(id: string): ScrubTable | undefined {
    const table = this.#kept.get(id);
    if (table === undefined) return undefined;
    // The last used is the last to be dropped.
    this.#kept.delete(id);
    this.#kept.set(id, table);
    return table;
  }

  #keep(id: string, table: ScrubTable): ScrubTable {
    if (this.#kept.has(id)) return table;
    this.#kept.set(id, table);
    this.#bytes += bytesOfTable(table);
    for (const [oldest, dropped] of this.#kept) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytesOfTable(dropped);
    }
    return table;
  }

  #inThread(id: string, value: string, organizationId: string): Promise<ScrubTable> {
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) return underWay;
    const building = new Promise<ScrubTable>((resolve, reject) => {
      const jobs = this.#waiting.get(organizationId) ?? [];
      this.#waiting.set(organizationId, [...jobs, { value, resolve, reject }]);
      this.#serve();
    })
      .then((table) => this.#keep(id, table))
      .finally(() => this.#underWay.delete(id));
    // The caller may not wait for it yet.
    building.catch(() => undefined);
    this.#underWay.set(id, building);
    return building;
  }

  #serve(): void {
    if (this.#doing !== undefined) return;
    const [turn] = this.#waiting;
    if (turn === undefined) {
      this.#thread?.unref();
      return;
    }
    const [organizationId, [job, ...later]] = turn;
    this.#waiting.delete(organizationId);
    if (later.length > 0) this.#waiting.set(organizationId, later);
    if (job === undefined) return;
    this.#doing = job;
    this.#thread ??= this.#started();
    this.#thread.ref();
    this.#thread.postMessage(job.value);
  }

  #started(): Worker {
    const thread = new Worker(ENTRY, {
      workerData: { bases: BASES },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const end = (error?: unknown): void => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#done()?.reject(error ?? new Error('The thread that builds tables of secrets has ended.'));
      this.#serve();
    };
    thread.on('message', (table: ScrubTable) => {
      this.#done()?.resolve(table);
      this.#serve();
    });
    thread.on('error', end);
    thread.on('exit', () => end());
    return thread;
  }

  #done(): Job | undefined {
    const done = this.#doing;
    this.#doing = undefined;
    return done;
  }
}
