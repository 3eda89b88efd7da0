// The Run screen of open runs: live until the end, decisions, retries, failures, and an unreachable gateway.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axe, describeInBrowser, openBrowser, picture, type TestBrowser } from '../../support/browser.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';
import { expectReconnect, TWO_APPROVALS, tracePaths } from './gateway-outage.ts';
import { runPage, runPath, startRun } from './run-definitions.ts';

const ADMIN = 'an-admin-of-the-environment-0123456789';
const WAIT = { timeout: 60_000 };

let gateway: TestGateway;
let browser: TestBrowser;
let other: Server;
let url = '';
let starter = '';
const asked = new Map<string, number>();

const status = (page: Page) => page.locator('.run-head .badge').textContent();
const ended = (page: Page, as: string) => expect.poll(() => status(page), WAIT).toBe(as);
const said = async (page: Page, slug: string) =>
  (await page.locator(`.canvas [data-step="${slug}"] .hidden`).textContent())?.replace(/^, /, '');
const pathsOf = async (id: string): Promise<string[]> =>
  (await gateway.request('GET', `${runPath(id)}/steps`)).body.items.map(({ path }: { path: string }) => path);

const keyOf = (role: string): Promise<string> => gateway.makeKey({ name: unique(role), role, user: unique(role) });

describeInBrowser('an open run', () => {
  beforeAll(async () => {
    // Fails as often as the path says.
    other = createServer((req, res) => {
      const [, name = '', times = '0'] = (req.url ?? '').split('/');
      const n = (asked.get(name) ?? 0) + 1;
      asked.set(name, n);
      res.statusCode = n <= Number(times) ? 503 : 200;
      res.setHeader('content-type', 'application/json').end(`{"n":${n}}`);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    gateway = await testGateway({ SIGNALBOX_ADMIN_KEY: ADMIN, SIGNALBOX_HTTP_ALLOW: '127.0.0.1/32' });
    starter = await keyOf('editor');
    browser = await openBrowser(gateway.url);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
    other?.close();
  });

  const call = (fails: number, more: object = {}) => ({
    call: {
      stepType: 'http',
      name: 'Call',
      config: { url: `${url}/${unique('call')}/${fails}` },
      local: false,
      ...more,
    },
  });

  it('is watched from its question to its end, and decided, without loading the page again', async () => {
    const id = await startRun(
      gateway,
      {
        ask: {
          stepType: 'approval',
          config: { message: 'Begin?', commentRequired: true },
          nextSteps: { approved: 'each', rejected: 'no' },
        },
        each: { stepType: 'loop', config: { items: [0, 1, 2] }, nextSteps: { loop: 'rest', done: 'end' } },
        rest: { stepType: 'sleep', config: { duration: 300 }, nextSteps: { success: 'each' } },
        end: { stepType: 'finish' },
        no: { stepType: 'fail' },
      },
      starter,
    );
    const { page, end } = await browser.open(runPage(id), { key: ADMIN });
    await page.evaluate('window.stillHere = true');
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve ask' });
    const approve = dialog.getByRole('button', { name: 'Approve' });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    expect(await axe(page)).toEqual([]);
    await dialog.getByLabel('Comment').fill('Go on.');
    await approve.click();
    await dialog.waitFor({ state: 'detached' });
    await ended(page, 'completed');
    expect(await said(page, 'rest')).toBe('completed, 3 visits');
    expect(await said(page, 'end')).toBe('completed');
    expect(await said(page, 'no')).toBe('not reached');
    expect(await page.getByRole('region', { name: 'What it waits for' }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Trace' }).click();
    await expect.poll(() => tracePaths(page)).toEqual(await pathsOf(id));
    expect(await page.evaluate('window.stillHere')).toBe(true);
    await page.getByRole('button', { name: 'Fork…' }).waitFor();
    await end();
  });

  it('says what failed and why, leads to it, and goes on by a retry', async () => {
    const id = await startRun(gateway, {
      first: { stepType: 'set', config: { values: { a: 1 } }, nextSteps: { success: 'call' } },
      ...call(1, { retry: { maxAttempts: 1 }, nextSteps: { success: 'end' } }),
      end: { stepType: 'finish' },
    });
    await gateway.until(runPath(id), ({ body }) => body.status === 'failed');
    const { page, end } = await browser.open(runPage(id), { key: ADMIN });
    const why = page.getByRole('region', { name: 'Why it ended' });
    await why.getByText('http_status').waitFor();
    // Without a choice the step that failed is selected, with its error.
    const panel = page.getByRole('complementary', { name: 'Step Call' });
    await panel.getByRole('tab', { name: 'Error' }).waitFor();
    await panel.locator('.failure').getByText('http_status').waitFor();
    await page.locator('.canvas [data-step="first"]').click();
    await page.getByRole('complementary', { name: 'Step first' }).waitFor();
    await why.getByRole('button', { name: 'call', exact: true }).click();
    await panel.waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'run-failed');
    await why.getByRole('button', { name: 'Retry' }).click();
    await ended(page, 'completed');
    await page.getByRole('tab', { name: 'Trace' }).click();
    await expect.poll(() => tracePaths(page)).toEqual(['first', 'call', 'call', 'end']);
    expect(await page.locator('.trace tr[data-path="call"] .status').allTextContents()).toEqual([
      expect.stringContaining('failed'),
      expect.stringContaining('completed'),
    ]);
    await end();
  });

  it('says that an attempt failed and when the next one begins', async () => {
    const id = await startRun(gateway, call(9, { retry: { maxAttempts: 5, initialInterval: '40s' } }));
    await gateway.until(runPath(id), ({ body }) => body.retrying !== undefined);
    const { page, end } = await browser.open(runPage(id), { key: ADMIN });
    const why = page.getByRole('region', { name: 'What it waits for' });
    await why.getByText(/Attempt 2 of 5 of\s+call\s+begins/).waitFor();
    await why.getByText('503').waitFor();
    const attempts = page.locator('.attempts li');
    await expect.poll(() => attempts.count(), WAIT).toBe(2);
    expect(await attempts.first().textContent()).toContain('http_status');
    expect(await axe(page)).toEqual([]);
    await picture(page, 'run-retrying');
    await page.getByRole('button', { name: 'Cancel…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel the run' });
    await dialog.getByLabel('Reason').fill('Enough of it');
    await dialog.getByRole('button', { name: 'Cancel the run' }).click();
    await ended(page, 'cancelled');
    await page
      .getByRole('region', { name: 'Why it ended' })
      .getByText(/Enough of it/)
      .waitFor();
    await end();
  });

  it('gets a message, and is forked with another input', async () => {
    const id = await startRun(gateway, {
      hear: { stepType: 'listen', config: { name: 'news' }, nextSteps: { received: 'end' } },
      end: { stepType: 'finish', config: { output: { heard: '{{ lastOutput }}' } } },
    });
    const { page, end } = await browser.open(runPage(id), { key: ADMIN });
    await page.getByRole('button', { name: 'Send message…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send the message: hear' });
    await dialog.getByLabel('Payload').fill('{"text": ');
    await dialog
      .locator('.error')
      .getByText(/This is no JSON/)
      .waitFor();
    await dialog.getByLabel('Payload').fill('{"text": "hello"}');
    await dialog.getByRole('button', { name: 'Send the message' }).click();
    await ended(page, 'completed');
    await page.getByRole('complementary', { name: 'The run' }).getByText('heard').waitFor();
    await page.getByRole('button', { name: 'Fork…' }).click();
    const fork = page.getByRole('dialog', { name: 'Fork the run' });
    await fork.getByLabel('New input').fill('{"again": true}');
    await fork.getByRole('button', { name: 'Fork' }).click();
    await page.getByText(/fork of/).waitFor();
    expect(page.url()).not.toContain(encodeURIComponent(id));
    await page.getByRole('button', { name: 'Send message…' }).waitFor();
    const forked = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1)!);
    expect((await gateway.request('GET', runPath(forked))).body.input).toEqual({ again: true });
    await gateway.request('POST', `${runPath(forked)}/terminate`);
    await end();
  });

  it('tells who may only look which role is needed, and a refusal with its request', async () => {
    const id = await startRun(gateway, { ask: { stepType: 'approval', config: { message: 'May I?' } } });
    const { body: key } = await gateway.request('POST', '/api/keys', {
      json: { name: unique('look'), role: 'viewer' },
    });
    const { page, end } = await browser.open(runPage(id), { key: key.key, expects: [/status of 503/] });
    const approve = page.getByRole('button', { name: 'Approve…' });
    await approve.waitFor();
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('Needs the role approver.').first().waitFor({ state: 'attached' });
    const problem = { status: 503, code: 'temporal_unreachable', detail: 'Temporal cannot be reached.' };
    await page.route('**/summary*', (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
    );
    await page.reload();
    await page.getByRole('alert').getByText('Temporal cannot be reached.').waitFor();
    await page.unroute('**/summary*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await approve.waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await gateway.request('POST', `${runPath(id)}/terminate`);
    await end();
  });

  it('reports an unreachable gateway, reconnects, and shows what happened meanwhile once', async () => {
    const id = await startRun(gateway, TWO_APPROVALS, starter);
    await gateway.until(runPath(id), ({ body }) => body.waitingFor?.length > 0);
    const wire = new TcpProxy(new URL(gateway.url).host);
    await wire.open();
    const cutOffBrowser = await openBrowser(`http://127.0.0.1:${wire.port}`);
    try {
      await expectReconnect(gateway, cutOffBrowser, id, ADMIN, { cut: () => wire.cut(), join: () => wire.open() });
    } finally {
      await cutOffBrowser.close();
      await wire.cut();
    }
  }, 240_000);
});
