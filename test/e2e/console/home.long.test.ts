// Home and the triggers in a real browser.
import { beforeAll, expect, it } from 'vitest';
import { axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import {
  approvalDefinition,
  echoDefinition,
  sharedGateway,
  type TestGateway,
  unique,
} from '../gateway/gateway-support.ts';

const ADMIN = 'an-admin-of-the-environment-0123456789';

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: ADMIN });
const browser = sharedBrowser(gateway);
/** An organization of its own, since others have runs. Ann approves what ben starts. */
let key: string;
let starter: string;

const request: TestGateway['request'] = (method, path, options = {}) =>
  gateway.request(method, path, { ...options, headers: { authorization: `Bearer ${key}`, ...options.headers } });

async function store(definition: ReturnType<typeof echoDefinition>): Promise<void> {
  const answer = await request('PUT', `/api/workflows/${String(definition['slug'])}`, { json: definition });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
}

describeInBrowser('home', () => {
  beforeAll(async () => {
    const json = { name: 'ann', role: 'admin', organization: unique('org') };
    const made = await gateway.request('POST', '/api/keys', { json });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    key = made.body.key;
    const other = { name: 'ben', role: 'runner' };
    starter = (await request('POST', '/api/keys', { json: other })).body.key;
  }, 60_000);

  it('offers what can be started in a fresh store, then shows what waits, what failed and what ran last', async () => {
    const slug = unique('home');
    await store({ ...approvalDefinition(slug), name: 'Refund' });
    const { page, end } = await browser.open('/console', { key });
    await page.getByRole('heading', { name: 'Start a first run' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'home-fresh');
    await page.getByRole('link', { name: 'Start Refund' }).click();
    await page.waitForURL(`${gateway.url}/console/workflows/${slug}/run`);
    const start = { workflowId: slug, input: { amount: 7 } };
    const { body } = await request('POST', '/api/triggers/manual/run', {
      json: start,
      headers: { authorization: `Bearer ${starter}` },
    });
    const failing = unique('failing');
    const steps = { no: { stepType: 'fail', config: { code: 'out_of_stock', message: 'None left.' } } };
    await store({ ...echoDefinition(failing), name: 'Order', steps });
    await request('POST', '/api/triggers/manual/run', { json: { workflowId: failing, input: {} } });
    await expect
      .poll(async () => (await request('GET', '/api/executions/counts')).body.statuses, { timeout: 60_000 })
      .toMatchObject({ waiting: 1, failed: 1 });
    await page.goto(`${gateway.url}/console`);
    await page.getByRole('region', { name: 'Waits for you' }).getByText('Refund 7?').waitFor();
    await page.getByRole('region', { name: 'Failed within a day' }).getByText('out_of_stock').waitFor();
    const last = page.getByRole('region', { name: 'Last runs' }).locator('tbody tr');
    await expect.poll(() => last.count()).toBe(2);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'home');
    const decided = await request('POST', `/api/executions/${body.executionId}/approve`, { json: { approve: true } });
    expect(decided.status, JSON.stringify(decided.body)).toBe(200);
    await end();
  }, 180_000);

  it('lists triggers, fires one, and shows what became of it', async () => {
    const slug = unique('fired');
    await store({
      ...echoDefinition(slug),
      triggers: [
        { name: 'orders', type: 'webhook', config: { path: `${slug}/orders` } },
        { name: 'daily', type: 'schedule', config: { cron: '0 9 * * *', timezone: 'Asia/Tokyo' } },
      ],
    });
    const { page, end } = await browser.open('/console/triggers', { key });
    await page.getByRole('link', { name: 'orders' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'triggers');
    await page.getByRole('link', { name: 'daily' }).click();
    await page.getByRole('heading', { name: 'Next times' }).waitFor();
    expect(await page.getByText('09:00 in Asia/Tokyo').count()).toBe(5);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'trigger-schedule');
    await page.goBack();
    await page.getByRole('link', { name: 'orders' }).click();
    await page
      .getByText(`/hooks/`, { exact: false })
      .or(page.getByText(`${slug}/orders`))
      .first()
      .waitFor();
    await page.getByText('It has not fired yet.').waitFor();
    await page.getByRole('button', { name: 'Fire…' }).click();
    await page.getByLabel('Body').fill('{');
    await page.getByText(/This is no JSON/).waitFor();
    await page.getByLabel('Body').fill('{"a": 1}');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Fire', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${gateway.url}/console/triggers`);
    await page.getByRole('link', { name: 'orders' }).click();
    await page.locator('tr', { hasText: 'started' }).first().waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('disabled', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Fire…' }).getAttribute('aria-disabled')).toBe('true');
    expect(await page.getByRole('button', { name: 'Delete…' }).getAttribute('aria-disabled')).toBe('true');
    await picture(page, 'trigger');
    await end();
  }, 180_000);
});
