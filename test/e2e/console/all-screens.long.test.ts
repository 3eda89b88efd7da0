// What holds for all screens: they fit a phone and a zoom of 200 %, are told apart, and need no mouse.
import type { Request } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { approvalDefinition, echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const SETTINGS = ['secrets', 'models', 'mcp-servers', 'limits', 'keys', 'audit'];
const PATHS = ['', '/runs', '/approvals', '/triggers', ...SETTINGS.map((section) => `/settings/${section}`)];

const WAIT = { timeout: 30_000 };

const gateway = sharedGateway();
const browser = sharedBrowser(gateway);

describeInBrowser('every screen', () => {
  beforeAll(async () => {
    const slug = unique('every');
    const triggers = [
      { name: 'a-trigger-with-quite-a-long-name', type: 'webhook', config: { path: `${slug}/orders` } },
    ];
    const secret = { json: { value: 'some-secret-value' } };
    await Promise.all([
      gateway.request('PUT', `/api/secrets/${unique('a-secret')}`, secret),
      ...[approvalDefinition(slug, { triggers }), echoDefinition(unique('echo'))].map((json) =>
        gateway.request('PUT', `/api/workflows/${String(json['slug'])}`, { json }),
      ),
    ]);
    const json = { workflowId: slug, input: { amount: 12_345_678 } };
    await gateway.request('POST', '/api/triggers/manual/run', { json });
    await gateway.until('/api/approvals/count', ({ body }) => body.mine > 0, 60);
  }, 60_000);

  it('fits a phone and a zoom of 200 %, has one heading, and a title of its own', async () => {
    const titles = new Set<unknown>();
    const { page, end } = await browser.open('/console/workflows', { viewport: { width: 390, height: 844 } });
    await page.getByRole('heading', { level: 1 }).waitFor();
    /** What the page waits for. */
    const asked = new Set<Request>();
    page.on('request', (request) => asked.add(request));
    page.on('requestfinished', (request) => asked.delete(request));
    page.on('requestfailed', (request) => asked.delete(request));
    for (const path of PATHS) {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.evaluate(`const link = document.createElement('a'); link.href = '/console${path}';
        document.body.append(link); link.click(); link.remove();`);
      const isThere = () => page.evaluate('location.pathname + document.activeElement.tagName');
      await expect.poll(isThere, WAIT).toBe(`/console${path}H1`);
      await expect.poll(() => asked.size, WAIT).toBe(0);
      const fits = 'document.documentElement.scrollWidth <= innerWidth';
      expect(await page.evaluate(fits), `${path} on a phone`).toBe(true);
      expect(await axe(page), path).toEqual([]);
      await picture(page, `phone${path.replaceAll('/', '-')}`);
      await page.setViewportSize({ width: 640, height: 400 });
      expect(await page.evaluate(fits), `${path} at 200 %`).toBe(true);
      expect(await page.locator('h1').count(), path).toBe(1);
      titles.add(await page.title());
    }
    expect(titles.size).toBe(PATHS.length);
    await end();
  }, 180_000);

  it('is reached by keys alone: past the links to the content, and by each link', async () => {
    const { page, end } = await browser.open('/console');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByText('wait for you').waitFor();
    const links = (await page.locator('header nav a').allTextContents()).join(' ');
    expect(links).toMatch(/Runs.*Approvals ?\d+ wait for you.*Triggers.*Settings/);
    for (const name of ['Runs', 'Triggers', 'Settings']) {
      await page.locator('header nav a', { hasText: name }).focus();
      await page.keyboard.press('Enter');
      const there = `document.activeElement?.tagName === 'H1' && location.pathname.includes('${name.toLowerCase()}')`;
      await expect.poll(() => page.evaluate(there), WAIT).toBe(true);
    }
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Secrets');
    await end();
  });
});
