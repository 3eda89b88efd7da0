// Which ports the Temporal server of a stack has, and who may call what it serves there.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimPort } from '../../src/cli/start/ports.ts';
import { type DataFolder, dataFolder, startStack, startToEnd } from '../support/stack.ts';

/** The status of Temporal's HTTP API, called under that name; undefined where nothing answers HTTP. */
const asked = (port: number, host: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    const headers = { host, 'content-type': 'application/json' };
    request({ host: '127.0.0.1', port, path: '/api/v1/namespaces', headers, timeout: 3_000 }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', () => resolve(undefined))
      .end();
  });
/** The arguments that the server was started with. */
function argumentOf(pid: number | undefined, name: string): string | undefined {
  const given = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  return given.includes(name) ? given[given.indexOf(name) + 1] : undefined;
}

describe('the Temporal server of a stack', { timeout: 90_000 }, () => {
  let folder: DataFolder;
  beforeEach(() => {
    folder = dataFolder();
  });
  afterEach(() => folder.remove());
  const kept = () => JSON.parse(readFileSync(join(folder.path, 'ports.json'), 'utf8'));

  test('keeps the ports that it had before, and answers nobody by HTTP', async () => {
    const [before, ui] = await Promise.all([claimPort('127.0.0.1'), claimPort('127.0.0.1')]);
    for (const { release } of [before, ui]) release();
    writeFileSync(join(folder.path, 'ports.json'), JSON.stringify({ temporal: before.port, ui: ui.port }));
    const stack = await startStack(folder.path);
    const { address, uiUrl, server } = stack.note.temporal;
    expect([address, uiUrl]).toEqual([`127.0.0.1:${before.port}`, `http://127.0.0.1:${ui.port}`]);
    expect(kept()).toEqual({ temporal: before.port, ui: ui.port });
    const http = Number(argumentOf(server?.pid, '--http-port'));
    // As a page of another site would, also one whose own name was made to lead here.
    for (const host of [`127.0.0.1:${http}`, 'localhost', 'evil.example']) expect(await asked(http, host)).toBe(403);
    await stack.end('SIGTERM');
  });

  test('has the ports that the settings name, or none, and no Web UI where it is to have none', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const refused = await startToEnd(folder.path, { SIGNALBOX_TEMPORAL_PORT: `${port}` });
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining(`SIGNALBOX_TEMPORAL_PORT: port ${port} is taken`),
    });
    await new Promise((resolve) => taken.close(resolve));
    const stack = await startStack(folder.path, { SIGNALBOX_TEMPORAL_PORT: `${port}`, SIGNALBOX_UI: '0' });
    const { address, uiUrl, server } = stack.note.temporal;
    expect(address).toBe(`127.0.0.1:${port}`);
    expect(uiUrl).toBeUndefined();
    expect(stack.output()).not.toContain('Temporal UI');
    expect(argumentOf(server?.pid, '--ui-port')).toBeUndefined();
    const http = Number(argumentOf(server?.pid, '--http-port'));
    for (const host of [`127.0.0.1:${http}`, 'localhost', 'evil.example']) expect(await asked(http, host)).toBe(403);
    expect(kept()).toEqual({ temporal: port });
    await stack.end('SIGTERM');
  });
});
