/** The thread that builds tables of long secrets (scrub-tables.ts). It answers each value with its table, in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { buffersOf, type HashBases } from './scrub-search.ts';
import { scrubTableOf } from './scrub-table.ts';

const { bases } = workerData as { readonly bases: HashBases };

parentPort?.on('message', (value: string) => {
  const table = scrubTableOf(value, bases);
  parentPort?.postMessage(table, [...buffersOf(table.shapes), ...buffersOf(table.encodings)]);
});
