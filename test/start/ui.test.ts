// Temporal's Web UI of a stack: through its proxy it works, and nothing else in a browser reaches it.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PORTS_CLOSED_TO_BROWSERS } from '../../src/cli/start/ports.ts';
import { serve, type TestServer } from '../activities/server.ts';
import { describeInBrowser, openBrowser } from '../support/browser.ts';
import { type DataFolder, dataFolder, type Stack, startStack } from '../support/stack.ts';

let folder: DataFolder;
let stack: Stack;
let ui: string;
let other: TestServer;
beforeAll(async () => {
  other = await serve((_seen, response) => response.setHeader('content-type', 'text/html').end('<p>Another page</p>'));
  folder = dataFolder();
  stack = await startStack(folder.path);
  ui = stack.note.temporal.uiUrl ?? '';
});
afterAll(async () => {
  await stack.end('SIGTERM');
  folder.remove();
  await other.close();
});

/** A request as the API of the UI gets it. */
const ask = (method: string, headers: { [name: string]: string } = {}): Promise<[number | undefined, string]> =>
  new Promise((resolve, reject) => {
    const path = '/api/v1/namespaces';
    const sent = request(`${ui}${path}`, { method, headers, setHost: headers['host'] === undefined }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += String(chunk);
      });
      response.on('end', () => resolve([response.statusCode, text]));
    });
    sent.on('error', reject).end();
  });

/** The port of the UI's own server. */
const hiddenPort = (): number => {
  const args = readFileSync(`/proc/${stack.note.temporal.server?.pid}/cmdline`, 'utf8').split('\0');
  return Number(args[args.indexOf('--ui-port') + 1]);
};

test('answers this machine by its own names, and no page of another site', async () => {
  const host = 'evil.example:8233';
  expect(await ask('GET')).toEqual([200, expect.stringContaining('namespaceInfo')]);
  expect(await ask('GET', { host: `localhost:${new URL(ui).port}` })).toEqual([200, expect.any(String)]);
  for (const headers of [{ host }, { host, origin: `http://${host}` }, { origin: 'http://evil.example' }])
    for (const method of ['GET', 'POST']) expect((await ask(method, headers))[0]).toBe(403);
  expect(stack.output()).toContain(`${ui}/namespaces/signalbox/workflows`);
});

describeInBrowser("Temporal's Web UI in a browser", () => {
  test('shows a run through the proxy, and other pages reach neither it nor its server', async () => {
    const definition = { name: 'Hello', slug: 'hello', steps: { hello: { stepType: 'finish', config: {} } } };
    const workflowId = 'run-in-the-ui';
    await stack.client.workflow.start('run', { taskQueue: 'signalbox', workflowId, args: [{ definition }] });
    const browser = await openBrowser(ui);
    const { page } = await browser.open('/namespaces/signalbox/workflows');
    // Assets, settings and lists all come through the proxy.
    await page.getByText(workflowId).first().waitFor();
    await page.goto(other.url);
    const tried = (address: string) =>
      page.evaluate(async (url) => {
        const answer = await fetch(url, { mode: 'no-cors', method: 'POST', body: '{}' }).catch(() => undefined);
        return answer?.type;
      }, address);
    // It is reached, and refuses: its answer is hidden from the page.
    expect(await tried(ui)).toBe('opaque');
    expect(PORTS_CLOSED_TO_BROWSERS).toContain(hiddenPort());
    expect(await tried(`http://127.0.0.1:${hiddenPort()}/`)).toBeUndefined();
    await browser.close();
  });
});

test('is closed in a running stack as soon as there is a key', async () => {
  const made = await fetch(`${stack.note.gateway?.url}/api/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'first', role: 'admin' }),
  });
  expect(made.status, await made.text()).toBe(201);
  expect(await ask('GET')).toEqual([403, expect.stringContaining('SIGNALBOX_UI=1')]);
});
