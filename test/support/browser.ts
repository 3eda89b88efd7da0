import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, vi } from 'vitest';

// Pages of the console in a real Chromium, which is found by SIGNALBOX_CHROMIUM or at /usr/bin/chromium:
//
//   describeInBrowser('the runs', () => {
//     const browser = sharedBrowser(gateway);
//     it('lists them', async () => {
//       const { page, end } = await browser.open('/console/runs');
//       ...
//       expect(await axe(page)).toEqual([]);
//       await end();                              // fails on CSP violations, foreign requests and errors of the page
//     });
//   });

const FOUND = [process.env['SIGNALBOX_CHROMIUM'], '/usr/bin/chromium'].find(
  (path) => path !== undefined && path !== '' && existsSync(path),
);
const PATIENCE_MS = 30_000;
/** axe's rules for WCAG 2.2, levels A and AA, and its best practices. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export const hasBrowser = FOUND !== undefined;

/** As `describe`; skipped, and said so, where there is no Chromium. */
export const describeInBrowser: typeof describe | typeof describe.skip = FOUND === undefined ? describe.skip : describe;

if (FOUND === undefined)
  console.warn('No Chromium was found, so the tests of the console are skipped. Set SIGNALBOX_CHROMIUM.');

export type OpenOptions = {
  scheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
  /** An API key to log in with, before the page opens. */
  key?: string;
  /** Texts of errors that the test causes. */
  expects?: readonly RegExp[];
};

export type OpenPage = {
  page: Page;
  context: BrowserContext;
  /** What went wrong so far: violations of the policy, requests to other hosts, errors. */
  faults(): string[];
  /** Closes the page. @throws Error with all faults. */
  end(): Promise<void>;
};

export type TestBrowser = {
  open(path: string, options?: OpenOptions): Promise<OpenPage>;
  close(): Promise<void>;
};

let launched: Promise<Browser> | undefined;

/** The Chromium of this process, for all of its test files. Playwright ends it with the process. */
const launchBrowser = (): Promise<Browser> => {
  launched ??= chromium.launch({
    ...(FOUND === undefined ? {} : { executablePath: FOUND }),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  return launched;
};

/** A browser for the pages of a `sharedGateway`, as long as that is there. */
export function sharedBrowser(gateway: { readonly url: string }): TestBrowser {
  const browser = {} as TestBrowser;
  beforeAll(async () => {
    Object.assign(browser, await openBrowser(gateway.url));
  });
  afterAll(() => browser.close());
  return browser;
}

/** Opens pages of this gateway, each in a context of its own. `close()` closes those that are left. */
export async function openBrowser(url: string): Promise<TestBrowser> {
  const browser = await launchBrowser();
  const contexts = new Set<BrowserContext>();
  return {
    open: (path, options = {}) => openPage(browser, contexts, url, path, options),
    close: async () => {
      await Promise.all([...contexts].map((context) => context.close()));
    },
  };
}

async function openPage(
  browser: Browser,
  contexts: Set<BrowserContext>,
  url: string,
  path: string,
  options: OpenOptions,
): Promise<OpenPage> {
  const { scheme = 'light', viewport = { width: 1280, height: 800 }, key, expects = [] } = options;
  const context = await browser.newContext({ colorScheme: scheme, viewport, reducedMotion: 'reduce' });
  contexts.add(context);
  context.setDefaultTimeout(PATIENCE_MS);
  if (key !== undefined) await logIn(context, url, key);
  const page = await context.newPage();
  const found: string[] = [];
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== url && protocol !== 'data:' && protocol !== 'blob:') found.push(`asked ${request.url()}`);
  });
  page.on('pageerror', (error) => found.push(`threw ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // A refusal of the API is shown on the page. The browser logs it as well.
    const isRefusal = /^Failed to load resource: the server responded with a status of 4/.test(message.text());
    if (message.type() === 'error' && !isRefusal) found.push(`logged ${message.text()}`);
  });
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) =>
       console.error('policy: ' + event.effectiveDirective + ' ' + event.blockedURI + ' ' + event.sample));`,
  );
  const faults = (): string[] => found.filter((fault) => !expects.some((expected) => expected.test(fault)));
  await page.goto(`${url}${path}`);
  return {
    page,
    context,
    faults,
    end: async () => {
      contexts.delete(context);
      await context.close();
      if (faults().length > 0) throw new Error(`The page did what it must not:\n${faults().join('\n')}`);
    },
  };
}

/** Logs the context in as the login screen does. */
async function logIn(context: BrowserContext, url: string, key: string): Promise<void> {
  const answer = await context.request.post(`${url}/api/session`, {
    data: { key },
    headers: { 'x-signalbox-console': '1', origin: url, 'sec-fetch-site': 'same-origin' },
  });
  if (answer.status() !== 201) throw new Error(`The login was refused: ${answer.status()} ${await answer.text()}`);
}

let axeText: string | undefined;
const axeSource = (): string => {
  axeText ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  return axeText;
};

type Violation = { id: string; help: string; nodes: { html: string; failureSummary?: string }[] };

/** The rules that look at colours. A scheme changes nothing else. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** What axe finds on the page, in the light scheme and in the dark one: one text for each rule and scheme. */
export async function axe(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axeSource());
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const rules = colorScheme === 'light' ? { type: 'tag', values: TAGS } : { type: 'rule', values: OF_COLOURS };
    const run = `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })`;
    const { violations } = await page.evaluate<{ violations: Violation[] }>(run);
    for (const { id, help, nodes } of violations)
      found.push(`${colorScheme}: ${id}: ${help}\n${nodes.map((node) => `  ${describeNode(node)}`).join('\n')}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

const describeNode = ({ html, failureSummary = '' }: Violation['nodes'][number]): string =>
  `${html.slice(0, 300)}\n    ${failureSummary.replaceAll('\n', '\n    ')}`;

/** Clicks until it shows: a gateway on a loaded machine may refuse a dry run, and asks to send it again. */
export async function again(page: Page, button: string, shown: Locator): Promise<void> {
  const once = async (): Promise<void> => {
    await page.getByRole('button', { name: button }).click();
    await shown.waitFor({ timeout: 8_000 });
  };
  await vi.waitFor(once, { timeout: 60_000, interval: 100 });
}

/** Saves a picture where SIGNALBOX_PICTURES names a folder: to look at, not for a test. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['SIGNALBOX_PICTURES'];
  if (folder === undefined) return;
  const path = join(folder === '' ? tmpdir() : folder, `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  await page.screenshot({ path });
}
