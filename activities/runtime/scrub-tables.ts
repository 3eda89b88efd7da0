/**
 * The tables of the secrets that this process has used lately, by a keyed hash of the secret. A table is built once.
 * That of a long secret may take a second, so a thread builds it. The thread serves organizations round robin: many
 * long secrets of one delay another one's by one table.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { MIN_SECRET_CHARACTERS } from '../../src/definition/document/limits.ts';
import { type HashBases, randomBases } from './scrub-search.ts';
import { canBuildInline } from './scrub-shapes.ts';
import { bytesOfTable, type ScrubTable, scrubTableOf } from './scrub-table.ts';

/** Of all tables that are kept. That of an ordinary secret has 20 KB, the largest about 20 MB. */
const MAX_CACHE_BYTES = 64 * 1024 * 1024;
/** Ample for the shapes of the longest secret. */
const HEAP_MB = 512;

/** With its extension: the sources in tests, the compiled files otherwise. */
const THREAD_ENTRY = new URL(`./scrub-thread${extname(new URL(import.meta.url).pathname)}`, import.meta.url);

/** For all tables of this process. */
export const HASH_BASES: HashBases = randomBases();

interface Job {
  readonly value: string;
  readonly resolve: (table: ScrubTable) => void;
  readonly reject: (error: unknown) => void;
}

export class ScrubTables {
  readonly #key = randomBytes(32);
  readonly #maxBytes: number;
  readonly #cache = new Map<string, ScrubTable>();
  #bytes = 0;
  /** By organization, the next one to serve first. */
  readonly #queue = new Map<string, readonly Job[]>();
  readonly #inFlight = new Map<string, Promise<ScrubTable>>();
  #thread: Worker | undefined;
  #currentJob: Job | undefined;

  /** `maxBytes`: of the tables that are kept. */
  constructor(maxBytes = MAX_CACHE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** A table for each value that is long enough to be scrubbed. Rejects where one could not be built. */
  async of(values: readonly string[], organizationId: string): Promise<ScrubTable[]> {
    const secrets = values.filter((value) => value.length >= MIN_SECRET_CHARACTERS);
    const tables: Promise<ScrubTable>[] = [];
    let built = 0;
    for (const value of secrets) {
      const id = createHmac('sha256', this.#key).update(value).digest('base64');
      const known = this.#cached(id);
      if (known !== undefined) tables.push(Promise.resolve(known));
      else if (canBuildInline(value)) {
        // Fifty of them would hold up the other activities of the process.
        if (built++ > 0) await nextTurn();
        tables.push(Promise.resolve(this.#addToCache(id, scrubTableOf(value, HASH_BASES))));
      } else tables.push(this.#buildInThread(id, value, organizationId));
    }
    return Promise.all(tables);
  }

  #cached(id: string): ScrubTable | undefined {
    const table = this.#cache.get(id);
    if (table === undefined) return undefined;
    // The last used is the last to be dropped.
    this.#cache.delete(id);
    this.#cache.set(id, table);
    return table;
  }

  #addToCache(id: string, table: ScrubTable): ScrubTable {
    if (this.#cache.has(id)) return table;
    this.#cache.set(id, table);
    this.#bytes += bytesOfTable(table);
    for (const [oldest, dropped] of this.#cache) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#cache.delete(oldest);
      this.#bytes -= bytesOfTable(dropped);
    }
    return table;
  }

  #buildInThread(id: string, value: string, organizationId: string): Promise<ScrubTable> {
    const running = this.#inFlight.get(id);
    if (running !== undefined) return running;
    const building = new Promise<ScrubTable>((resolve, reject) => {
      const jobs = this.#queue.get(organizationId) ?? [];
      this.#queue.set(organizationId, [...jobs, { value, resolve, reject }]);
      this.#startNextJob();
    })
      .then((table) => this.#addToCache(id, table))
      .finally(() => this.#inFlight.delete(id));
    // The caller may not wait for it yet.
    building.catch(() => undefined);
    this.#inFlight.set(id, building);
    return building;
  }

  #startNextJob(): void {
    if (this.#currentJob !== undefined) return;
    const [next] = this.#queue;
    if (next === undefined) {
      this.#thread?.unref();
      return;
    }
    const [organizationId, [job, ...later]] = next;
    this.#queue.delete(organizationId);
    if (later.length > 0) this.#queue.set(organizationId, later);
    if (job === undefined) return;
    this.#currentJob = job;
    this.#thread ??= this.#startThread();
    this.#thread.ref();
    this.#thread.postMessage(job.value);
  }

  #startThread(): Worker {
    const thread = new Worker(THREAD_ENTRY, {
      workerData: { bases: HASH_BASES },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const end = (error?: unknown): void => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#takeCurrentJob()?.reject(error ?? new Error('The thread that builds tables of secrets has ended.'));
      this.#startNextJob();
    };
    thread.on('message', (table: ScrubTable) => {
      this.#takeCurrentJob()?.resolve(table);
      this.#startNextJob();
    });
    thread.on('error', end);
    thread.on('exit', () => end());
    return thread;
  }

  #takeCurrentJob(): Job | undefined {
    const done = this.#currentJob;
    this.#currentJob = undefined;
    return done;
  }
}
