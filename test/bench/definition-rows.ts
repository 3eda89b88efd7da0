/** Rows about many definitions, and many versions of one: what editors and lists wait for, in milliseconds. */

import { startGateway } from '../../src/gateway/serve.ts';
import type { Json } from '../../src/json/json.ts';
import { forkWorker, type TestServer } from '../support/temporal.ts';
import { chain } from './definitions.ts';
import { median, type Row, timed } from './rows.ts';

const DEFINITIONS = 5_000;
const VERSIONS = 1_000;
const AT_ONCE = 10;
const READS = 60;
const LISTS = 'list page of 5,000 definitions, p50';
const GETS = 'get of one of 5,000 definitions, with 1,000 versions, p50';

interface Listing {
  readonly items: readonly unknown[];
  readonly nextCursor?: string;
}

export const DEFINITION_ROWS: readonly string[] = [LISTS, GETS];

export async function definitionRows(server: TestServer): Promise<Row[]> {
  const worker = await forkWorker(server);
  const gateway = await startGateway(server.config, { temporal: server });
  try {
    const ask = async (path: string, init: RequestInit = {}): Promise<Listing> => {
      const answer = await fetch(`${gateway.url}/api/workflows${path}`, init);
      const body = await answer.text();
      if (!answer.ok) throw new Error(body);
      return JSON.parse(body);
    };
    const put = (slug: string, more: { [member: string]: Json }) =>
      ask(`/${slug}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...chain(5), slug, ...more }),
      });
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let n = next++; n < DEFINITIONS; n = next++) await put(`many-${n}`, { name: `Definition ${n}` });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    for (let n = 1; n <= VERSIONS; n++) await put('many-0', { name: `Version ${n}` });
    const deadline = Date.now() + 60_000;
    while ((await listed(ask)) < DEFINITIONS)
      if (Date.now() > deadline) throw new Error('The list never showed all definitions.');
    return [
      { name: LISTS, value: await p50(() => ask('')), unit: ' ms', aim: { most: 100 } },
      { name: GETS, value: await p50(() => ask('/many-0')), unit: ' ms', aim: { most: 10 } },
    ];
  } finally {
    await gateway.close();
    await worker.end();
  }
}

async function p50(read: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let n = -10; n < READS; n++) {
    const ms = await timed(read);
    if (n >= 0) taken.push(ms);
  }
  return median(taken);
}

/** How many definitions all pages hold. */
async function listed(ask: (path: string) => Promise<Listing>): Promise<number> {
  let count = 0;
  let cursor = '';
  do {
    const page = await ask(`?limit=1000${cursor}`);
    count += page.items.length;
    cursor = page.nextCursor === undefined ? '' : `&cursor=${encodeURIComponent(page.nextCursor)}`;
  } while (cursor !== '');
  return count;
}
