// Questions of runs in the console: started by a form, found in the inbox, answered on a phone, by keys, and too late.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../../src/json/json.ts';
import { axe, describeInBrowser, picture, sharedBrowser } from '../../support/browser.ts';
import { sharedGateway, unique } from '../gateway/gateway-support.ts';

const PHONE = { viewport: { width: 390, height: 844 } };

const gateway = sharedGateway({ SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789' });
const browser = sharedBrowser(gateway);
const keys: { [name: string]: string } = {};
const slug = unique('refund');

const refund = (config: { [member: string]: Json }, more: { [member: string]: Json } = {}): Json => ({
  name: 'Refund',
  slug,
  input: {
    order: { type: 'string', title: 'Order' },
    amount: { type: 'number', description: 'In euros' },
    reason: { type: 'string', enum: ['broken', 'late'], required: false },
  },
  steps: {
    review: {
      stepType: 'approval',
      config: { message: 'Refund {{ input.amount }} euros for order {{ input.order }}?', ...config },
      nextSteps: { approved: 'done', rejected: 'done', timeout: 'done' },
    },
    done: { stepType: 'finish', config: { output: '{{ steps.review.output.data }}' } },
  },
  ...more,
});

const asked = {
  approvers: { roles: ['finance'] },
  timeout: '30m',
  priority: 'high',
  commentRequired: true,
  form: { account: { type: 'string', label: 'Account' }, share: { type: 'integer', default: 100 } },
};

/** A run that waits for its approval, and is in the lists. */
async function startWaitingRun(order: string, config: { [member: string]: Json } = asked): Promise<string> {
  const inline = { definition: refund(config), input: { order, amount: 12.5 } } as unknown as Json;
  const { body } = await gateway.request('POST', '/api/executions', { json: inline });
  const id = String(body.executionId);
  await gateway.until(`/api/approvals?all=true&executionId=${id}`, (answer) => answer.body.items?.length === 1);
  return id;
}

const decideAs = (name: string, id: string, json: Json) =>
  gateway.request('POST', `/api/executions/${id}/approve`, {
    json,
    headers: { authorization: `Bearer ${keys[name]}` },
  });

const height = async (page: Page, name: string): Promise<number> =>
  (await page.getByRole('button', { name, exact: true }).boundingBox())?.height ?? 0;

describeInBrowser('questions in the console', () => {
  beforeAll(async () => {
    const person = async (user: string, role: string, more: object = {}) => {
      keys[user] = await gateway.makeKey({ name: unique(user), user, role, ...more });
    };
    await person('ann', 'runner');
    await person('bob', 'approver', { roles: ['finance'] });
    await person('cem', 'approver', { roles: ['finance'] });
    await person('vic', 'viewer');
    await gateway.request('PUT', `/api/workflows/${slug}`, { json: refund(asked) });
  });

  it('are made by the form of a run, and approved on a phone, where the run is seen to complete', async () => {
    const ann = await browser.open(`/console/workflows/${slug}/run`, { key: keys['ann'] as string, ...PHONE });
    await ann.page.getByRole('heading', { name: 'Run Refund' }).waitFor();
    await ann.page.getByRole('button', { name: 'Start' }).click();
    await ann.page.getByText('Fill this in.').first().waitFor();
    expect(await axe(ann.page)).toEqual([]);
    await ann.page.getByLabel('Order').fill('A-17');
    await ann.page.getByLabel('Amount').fill('250');
    await ann.page.getByLabel('Reason').selectOption({ label: 'late' });
    await picture(ann.page, 'run-form');
    // A double click starts one run.
    await ann.page.getByRole('button', { name: 'Start' }).dblclick();
    await ann.page.getByText('A-17').or(ann.page.getByText('It asks:')).first().waitFor();
    const { body } = await gateway.until(`/api/executions?workflowId=${slug}`, (one) => one.body.items?.length === 1);
    const id = String(body.items[0].id);
    await gateway.until(`/api/approvals?all=true&executionId=${id}`, (answer) => answer.body.items?.length === 1);
    await ann.end();

    const { page, end } = await browser.open('/console/approvals', { key: keys['bob'] as string, ...PHONE });
    const link = page.getByRole('link', { name: 'Refund 250 euros for order A-17?' });
    await link.waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'inbox-phone');
    await link.click();
    await page.getByRole('heading', { name: 'Refund 250 euros for order A-17?' }).waitFor();
    await page.getByLabel('Account').waitFor();
    expect(await axe(page)).toEqual([]);
    await picture(page, 'approval-phone');
    expect(await height(page, 'Approve')).toBeGreaterThanOrEqual(44);
    expect(await height(page, 'Reject')).toBeGreaterThanOrEqual(44);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.evaluate('window.stillHere = true');

    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('This decision needs a comment.').or(page.getByText('Fill this in.')).first().waitFor();
    await page.getByLabel('Account').fill('DE-1');
    await page.getByLabel('Comment').fill('A good customer');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('bob approved this.').waitFor();
    await page.locator('.badge.completed').waitFor();
    expect(await page.evaluate('window.stillHere')).toBe(true);
    expect(await axe(page)).toEqual([]);
    await picture(page, 'approved-phone');
    await end();
    const { output } = (await gateway.request('GET', `/api/executions/${id}/result`)).body;
    expect(output).toMatchObject({
      decision: 'approved',
      decidedBy: 'bob',
      comments: 'A good customer',
      submittedData: { account: 'DE-1', share: 100 },
    });
  });

  it('are rejected by the keyboard alone, which asks once more', async () => {
    const order = unique('K');
    const id = await startWaitingRun(order);
    const { page, end } = await browser.open('/console/approvals', { key: keys['bob'] as string });
    const question = page.getByRole('link', { name: `order ${order}?` });
    await question.waitFor();
    // The list is shown a moment before it listens to keys.
    await vi.waitFor(async () => {
      await page.keyboard.press('j');
      expect(await question.evaluate((link) => link.ownerDocument.activeElement === link)).toBe(true);
    }, 10_000);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `order ${order}?` }).waitFor();
    await page.getByLabel('Comment').waitFor();
    await page.keyboard.press('r');
    // A comment is wanted first, and the field has the focus: the keys are letters now.
    await page.getByText('This decision needs a comment.').waitFor();
    await page.keyboard.type('rather not');
    expect(await page.getByLabel('Comment').inputValue()).toBe('rather not');
    await page.keyboard.press('Tab');
    await page.keyboard.press('r');
    const dialog = page.getByRole('dialog', { name: 'Reject this?' });
    await dialog.waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.status).toBe('waiting');
    await page.keyboard.press('r');
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Reject', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('bob rejected this.').waitFor();
    await end();
  });

  it('that another has answered meanwhile say who, when and how', async () => {
    const id = await startWaitingRun('L-1');
    const { page, end } = await browser.open(`/console/approvals/${id}/review`, { key: keys['bob'] as string });
    await page.getByLabel('Account').fill('DE-2');
    await page.getByLabel('Comment').fill('Fine');
    // The answer of another arrives between two looks of the page.
    await page.route(/\/api\/approvals\//, (route) => route.abort());
    const { status } = await decideAs('cem', id, { approve: false, comments: 'Too much' });
    expect(status).toBe(200);
    await page.getByRole('button', { name: 'Approve' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('cem rejected this.').waitFor();
    await alert.getByText('Too much').waitFor();
    await picture(page, 'approval-late');
    await page.unroute(/\/api\/approvals\//);
    await page.locator('.badge.completed').waitFor();
    await end();
  });

  it('of others are shown by a switch, which the address keeps, and cannot be answered', async () => {
    const id = await startWaitingRun('S-1');
    const { page, end } = await browser.open('/console/approvals', { key: keys['vic'] as string });
    await page.getByText('Nothing waits for you.').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Of others too').check();
    await page.getByRole('link', { name: 'order S-1?' }).waitFor();
    expect(new URL(page.url()).search).toBe('?all=true');
    await page.reload();
    await page.getByText('asks the role finance').first().waitFor();
    await page.getByRole('link', { name: 'order S-1?' }).click();
    await page.getByText('You cannot answer this: the role finance can.').waitFor();
    const approve = page.getByRole('button', { name: 'Approve' });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    expect(await page.locator(`#${await approve.getAttribute('aria-describedby')}`).textContent()).toBe(
      'Needs the role approver.',
    );
    await page.keyboard.press('a');
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.status).toBe('waiting');
    await end();
  });

  it('that were decided have a tab of their own, with filters that the address keeps', async () => {
    const about = { message: 'Ship it?', resourceType: 'order', resourceId: unique('D') };
    const yes = await startWaitingRun('D-1', about);
    const no = await startWaitingRun('D-2', about);
    await decideAs('bob', yes, { approve: true, comments: 'Well packed' });
    await decideAs('cem', no, { approve: false });
    const found = `/api/approvals?decided=any&resourceType=order&resourceId=${about.resourceId}`;
    await gateway.until(found, (answer) => answer.body.items?.length === 2);

    const { page, end } = await browser.open('/console/approvals', { key: keys['vic'] as string });
    await page.getByRole('tab', { name: 'Decided' }).click();
    await page.getByLabel('Resource', { exact: true }).fill(about.resourceId);
    await page.getByRole('button', { name: 'Filter' }).click();
    const rows = page.getByRole('list', { name: 'Decisions' }).getByRole('listitem');
    await page.getByText('bob approved this.').first().waitFor();
    await vi.waitFor(async () => expect(await rows.count()).toBe(2), 10_000);
    expect(await rows.nth(0).textContent()).toContain('cem rejected this.');
    expect(await rows.nth(1).textContent()).toContain('Well packed');
    expect(await axe(page)).toEqual([]);
    await picture(page, 'decided');
    await page.getByLabel('Decision', { exact: true }).selectOption('approved');
    await vi.waitFor(async () => expect(await rows.count()).toBe(1), 10_000);
    expect(new URL(page.url()).search).toBe(`?decided=approved&resourceId=${about.resourceId}`);
    await page.reload();
    await page.getByRole('link', { name: 'Ship it?' }).click();
    await page.getByText('bob approved this.').first().waitFor();
    await end();

    const phone = await browser.open(`/console/approvals?decided=any`, { key: keys['vic'] as string, ...PHONE });
    await phone.page.getByText('cem rejected this.').first().waitFor();
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await picture(phone.page, 'decided-phone');
    // The other tab drops the filters of this one.
    await phone.page.getByRole('tab', { name: 'Open' }).click();
    expect(new URL(phone.page.url()).search).toBe('');
    await phone.end();
  });

  it('that cannot be loaded say why, and are loaded again', async () => {
    const { page, end } = await browser.open('/console/approvals', { key: keys['bob'] as string, expects: [/503/] });
    await page.getByRole('list', { name: 'Questions' }).waitFor();
    const refused = { code: 'temporal_unreachable', detail: 'Temporal does not answer.', status: 503 };
    await page.route(/\/api\/approvals\?/, (route) => route.fulfill({ status: 503, json: refused }));
    await page.getByLabel('Of others too').check();
    await page.getByRole('alert').getByText('Temporal does not answer.').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.unroute(/\/api\/approvals\?/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await end();
  });

  describe('for data', () => {
    it('are answered by the form, with what is wrong at its field, or as JSON', async () => {
      const form = {
        type: 'object',
        required: ['city', 'lines'],
        properties: {
          city: { type: 'string', minLength: 3 },
          lines: {
            type: 'array',
            items: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] },
          },
        },
      };
      const definition = {
        name: 'Address',
        slug: unique('address'),
        steps: {
          ask: { stepType: 'user_input', config: { message: 'Where to?', form }, nextSteps: { submitted: 'done' } },
          done: { stepType: 'finish', config: { output: '{{ steps.ask.output.data }}' } },
        },
      };
      const { body } = await gateway.request('POST', '/api/executions', { json: { definition } as unknown as Json });
      const id = String(body.executionId);
      await gateway.until(`/api/executions/${id}`, (answer) => answer.body.waitingFor?.length === 1);
      const { page, end } = await browser.open(`/console/approvals/${id}/ask`, { key: keys['ann'] as string });
      await page.getByRole('button', { name: 'Add item' }).click();
      await page.getByLabel('Sku').fill('X-1');
      await page.getByLabel('City').fill('Ge');
      await page.getByRole('button', { name: 'Submit' }).click();
      await page.locator('.field.invalid').getByText(/3/).waitFor();
      expect(await axe(page)).toEqual([]);
      await picture(page, 'input-form');
      await page.getByRole('button', { name: 'Write it as JSON' }).click();
      const json = page.getByLabel('Answer as JSON');
      expect(JSON.parse(await json.inputValue())).toEqual({ city: 'Ge', lines: [{ sku: 'X-1' }] });
      await json.fill('{"city": "Gent", "lines": [], "more": 1}');
      await page.getByRole('button', { name: 'Fill in the fields' }).click();
      await page.getByText('The fields cannot hold all of this.').waitFor();
      await page.getByRole('button', { name: 'Submit' }).click();
      await page.getByText('ann answered this.').waitFor();
      await end();
      const { output } = (await gateway.request('GET', `/api/executions/${id}/result?wait=10`)).body;
      expect(output).toEqual({ city: 'Gent', lines: [], more: 1 });
    });
  });
});
