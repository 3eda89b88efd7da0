// The list of runs in a real browser: tabs, filters, new rows, keys, views, and operations on many runs.
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway();
const browser = sharedBrowser(gateway);
let slug: string;

async function start(how: string, workflowId = slug): Promise<string> {
  const json: Json = { workflowId, input: { how } };
  return String((await gateway.request('POST', '/api/triggers/manual/run', { json })).body.executionId);
}
const counted = (wanted: { [status: string]: number }, workflowId = slug) =>
  gateway.until(
    `/api/executions/counts?workflowId=${workflowId}`,
    ({ body }) => Object.entries(wanted).every(([status, count]) => body.statuses[status] === count),
    60,
  );
async function store(name: string): Promise<string> {
  const stored = unique('console-runs');
  const definition = {
    name,
    slug: stored,
    steps: {
      which: {
        stepType: 'switch',
        config: { value: '{{ input.how }}', cases: { no: 'no', odd: 'odd', ask: 'ask' }, default: 'end' },
        nextSteps: { no: 'no', odd: 'odd', ask: 'ask', end: 'end' },
      },
      no: { stepType: 'fail', config: { code: 'out_of_stock', message: 'Nothing is left.' } },
      odd: { stepType: 'fail', config: { code: 'odd_order', message: 'It is odd.' } },
      ask: { stepType: 'approval', config: { message: 'Go on?' } },
      end: { stepType: 'finish' },
    },
  };
  const answer = await gateway.request('PUT', `/api/workflows/${stored}`, { json: definition });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return stored;
}
const WAIT = { timeout: 30_000 };
const rowsOf = (page: Page) => page.locator('tbody tr');

describeInBrowser('the run list', () => {
  beforeAll(async () => {
    slug = await store('Order a chair');
    await Promise.all(['no', 'no', 'ask', 'end', 'end', 'end'].map((how) => start(how)));
    await counted({ failed: 2, waiting: 1, completed: 3 });
  }, 180_000);

  it('shows runs with what they wait for and why they failed, and has nothing that axe finds', async () => {
    const { page, end } = await browser.open(`/console/runs?workflowId=${slug}`);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(6);
    await page.getByRole('link', { name: 'Failed 2' }).waitFor();
    expect(await page.getByText('Order a chair').count()).toBe(6);
    expect(await page.locator('tr', { hasText: 'out_of_stock' }).count()).toBe(2);
    expect(await page.locator('tr', { hasText: 'a decision in ask' }).count()).toBe(1);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'runs');
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'runs-dark');
    await end();
  });

  it('has filters in its address, as tabs and chips', async () => {
    const { page, end } = await browser.open(`/console/runs?workflowId=${slug}`);
    await page.getByRole('link', { name: 'Failed 2' }).click();
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(2);
    expect(page.url()).toContain('status=failed%2Caborted');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('dialog').getByLabel('Error code').fill('another_code');
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('No run matches.').waitFor();
    expect(new URL(page.url()).searchParams.get('errorCode')).toBe('another_code');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove Error code: another_code' }).click();
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(2);
    await page.goBack();
    await page.goBack();
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(6);
    await end();
  });

  it('renews its rows, and lets new ones wait until they are asked for', async () => {
    const own = await store('Live rows');
    const waiting = await start('ask', own);
    await counted({ waiting: 1 }, own);
    const { page, end } = await browser.open(`/console/runs?workflowId=${own}`);
    await page.locator('tr', { hasText: 'waiting' }).waitFor();
    await start('end', own);
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await rowsOf(page).count()).toBe(1);
    await gateway.request('POST', `/api/executions/${waiting}/cancel`, { json: {} });
    await page.locator('tr', { hasText: 'cancelled' }).waitFor();
    await page.getByRole('button', { name: '1 new' }).click();
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(2);
    await end();
  }, 180_000);

  it('keeps the rows of further pages while the first one is renewed', async () => {
    const own = await store('Paged rows');
    for (const how of ['ask', 'end', 'end']) await start(how, own);
    await counted({ waiting: 1, completed: 2 }, own);
    const { page, end } = await browser.open('/console/approvals');
    // Pages of two.
    await page.route(/\/api\/executions\?.*limit=50/, (route) =>
      route.continue({ url: route.request().url().replace('limit=50', 'limit=2') }),
    );
    await page.goto(`${gateway.url}/console/runs?workflowId=${own}`);
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(2);
    await page.getByRole('button', { name: 'More' }).click();
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(3);
    await page.getByRole('button', { name: 'More' }).waitFor({ state: 'detached' });
    await start('end', own);
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await rowsOf(page).count()).toBe(3);
    await page.getByRole('button', { name: '1 new' }).click();
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(2);
    await end();
  }, 180_000);

  it('is worked by keys alone, and none acts in a field', async () => {
    const { page, end } = await browser.open(`/console/runs?workflowId=${slug}`);
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(6);
    for (const key of ['j', 'j', 'k', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByText('2 runs chosen').waitFor();
    expect(await page.locator('tr.current').count()).toBe(1);
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('jx');
    await page.getByText('2 runs chosen').waitFor();
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).searchParams.get('workflowId')).toBe('jx');
    await end();
  });

  it('keeps views in the browser', async () => {
    const { page, end } = await browser.open(`/console/runs?workflowId=${slug}&status=failed`);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByLabel('Name of the present filters').fill('What failed');
    await page.keyboard.press('Enter');
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.goto(`${gateway.url}/console/runs`);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('link', { name: 'What failed' }).click();
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(2);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: 'Delete the view What failed' }).click();
    expect(await page.evaluate("localStorage.getItem('signalbox.run-views')")).toBe('[]');
    await end();
  });

  it('cancels the chosen runs that are open, with a reason', async () => {
    const own = await store('Many runs');
    await Promise.all(['ask', 'ask', 'end'].map((how) => start(how, own)));
    await counted({ waiting: 2, completed: 1 }, own);
    const { page, end } = await browser.open(`/console/runs?workflowId=${own}`);
    await page.getByLabel('Choose all that are shown').check();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByText('1 chosen run cannot be cancelled: ended already.').waitFor();
    await page.getByLabel('Reason').fill('No longer needed.');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel 2 runs' }).click();
    await page.getByText('2 of 2 runs cancelled.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    const { body } = await gateway.until(
      `/api/executions?workflowId=${own}&status=cancelled`,
      (answer) => answer.body.items.length === 2,
    );
    const read = await gateway.request('GET', `/api/executions/${body.items[0].id}`);
    expect(JSON.stringify(read.body.error)).toContain('No longer needed.');
    await end();
  });

  it('retries all that failed with an error code, after a preview, and cancels none of them', async () => {
    const own = await store('Retried runs');
    await Promise.all(['no', 'no', 'odd', 'end'].map((how) => start(how, own)));
    await counted({ failed: 3, completed: 1 }, own);
    const { page, end } = await browser.open(`/console/runs?workflowId=${own}&errorCode=out_of_stock`);
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(2);
    await page.getByLabel('Choose all that are shown').check();
    await page.getByRole('button', { name: 'All that match' }).click();
    expect(await page.getByRole('button', { name: 'Cancel…' }).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Retry…' }).click();
    await page.getByText('2 runs would be retried, as of now.').waitFor();
    await page.getByRole('button', { name: 'Retry 2 runs' }).click();
    await page.getByText('Done: 2 of 2 runs retried.').waitFor();
    await end();
    const filter = { workflowId: own, errorCode: 'out_of_stock' };
    const refused = await gateway.request('POST', '/api/executions/bulk', { json: { action: 'cancel', filter } });
    expect(refused).toMatchObject({ status: 400, body: { problems: [{ pointer: '/filter/errorCode' }] } });
  }, 180_000);

  it('fits a phone', async () => {
    const { page, end } = await browser.open(`/console/runs?workflowId=${slug}`, {
      viewport: { width: 390, height: 844 },
    });
    await expect.poll(() => rowsOf(page).count(), WAIT).toBe(6);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'runs-phone');
    await end();
  });
});
