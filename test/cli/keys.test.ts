import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { cli } from './terminal.ts';

it('lists all keys, also where they take more than a page', async () => {
  const asked: (string | null)[] = [];
  const server = createServer((req, res) => {
    const cursor = new URL(req.url ?? '', 'http://gateway').searchParams.get('cursor');
    asked.push(cursor);
    const items = [{ id: cursor === null ? 'first' : 'second', name: 'a', role: 'admin', createdAt: '2026-01-01' }];
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ items, ...(cursor === null ? { nextCursor: 'a cursor & more' } : {}) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const env = { SIGNALBOX_PORT: String((server.address() as AddressInfo).port) };
  try {
    const { exit, out } = await cli(['keys', 'list', '--json'], { env });
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject([{ id: 'first' }, { id: 'second' }]);
    expect(asked).toEqual([null, 'a cursor & more']);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
