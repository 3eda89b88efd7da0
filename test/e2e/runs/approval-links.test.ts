// Approvals that send messages with links: who decides by them, how often, and until when.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { axe, describeInBrowser, openBrowser, picture } from '../../support/browser.ts';
import { type Mailbox, mailbox } from '../access/mailbox.ts';
import { type Answer, requestTo, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';

const PUBLIC = 'http://signalbox.test';
const PAGE = { accept: 'text/html' };
let gateway: TestGateway;
let box: Mailbox;

beforeAll(async () => {
  box = await mailbox();
  gateway = await testGateway({
    SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789',
    SIGNALBOX_PUBLIC_URL: PUBLIC,
    SIGNALBOX_SMTP_URL: box.url,
    SIGNALBOX_MAIL_FROM: 'Signalbox <signalbox@example.com>',
  });
  const key = { name: unique('ann'), user: 'ann@example.com', role: 'approver', roles: ['finance'] };
  await gateway.request('POST', '/api/keys', { json: key });
});
afterAll(async () => {
  await gateway.close();
  await box.close();
});

const FORM = { account: { type: 'string', label: 'Account' }, share: { type: 'number', required: false } };

/** A run whose approval was sent to these addresses. */
async function asking(config: JsonObject, to: readonly string[], more = ''): Promise<{ id: string; links: string[] }> {
  const message = unique('Refund');
  const definition = {
    name: 'Refund',
    slug: unique('refund'),
    steps: {
      review: {
        stepType: 'approval',
        config: {
          message: message + more,
          approvers: { roles: ['finance'] },
          notify: [{ channel: 'email', to: [...to] }],
          ...config,
        },
        nextSteps: { approved: 'done', rejected: 'done', timeout: 'done' },
      },
      done: { stepType: 'finish', config: { output: '{{ steps.review.output.data }}' } },
    },
  };
  const { body } = await gateway.request('POST', '/api/executions', { json: { definition } as unknown as Json });
  const id = String(body.executionId);
  await gateway.until(`/api/approvals?all=true&executionId=${id}`, (answer) => answer.body.items?.length === 1);
  const sentNow = () => box.mails.filter((mail) => mail.includes(message) && mail.includes('Please decide'));
  await expect.poll(() => sentNow().length).toBe(to.length);
  const sent = sentNow();
  const links = to.map((address) => {
    const mail = sent.find((one) => one.includes(`To: ${address}`)) ?? '';
    return /http:\/\/signalbox\.test(\/approvals\/[\w.-]+)/.exec(mail)?.[1] ?? '';
  });
  return { id, links };
}

/** As a browser without an account. */
const open = (link: string, headers: Record<string, string> = PAGE) => requestTo(gateway.url, 'GET', link, { headers });
const send = (link: string, fields: Record<string, string>): Promise<Answer> =>
  requestTo(gateway.url, 'POST', link, {
    text: new URLSearchParams(fields).toString(),
    headers: { ...PAGE, 'content-type': 'application/x-www-form-urlencoded' },
  });
const result = async (id: string) => (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body;

describe('the link of an approval', () => {
  it('shows a long question below a short heading', async () => {
    const more = ` ${'of the supplier '.repeat(5)}?`;
    const { links } = await asking({}, ['ann@example.com'], more);
    const { body } = await open(links[0] ?? '');
    expect(body).toContain('<h1>Please decide</h1>');
    expect(body).toMatch(/<p class="text">Refund[^<]*of the supplier \?<\/p>/);
  });

  it('shows the question as often as it is opened, decides as its recipient, once, and tells the others', async () => {
    const { id, links } = await asking({ form: FORM, commentRequired: true }, ['ann@example.com']);
    const [link = ''] = links;
    for (let n = 0; n < 3; n++) {
      const page = await open(link);
      expect(page.status).toBe(200);
      expect(page.body).toContain('name="data.account"');
      expect(page.body).toMatch(/<dt>Asked at<\/dt><dd>\d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d UTC<\/dd>/);
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
    expect((await requestTo(gateway.url, 'HEAD', link, {})).status).toBe(200);
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.status).toBe('waiting');

    const wrong = await send(link, { decision: 'approved', 'data.account': '', 'data.share': 'much', comments: '' });
    expect(wrong.status).toBe(422);
    expect(wrong.body).toContain('value="much"');
    expect(wrong.body).toContain('This decision needs a comment.');
    const done = await send(link, {
      decision: 'approved',
      'data.account': 'DE-1',
      'data.share': '2',
      comments: 'Yes.',
    });
    expect(done).toMatchObject({ status: 200, body: expect.stringContaining('Thank you') });
    expect((await result(id)).output).toMatchObject({
      decision: 'approved',
      decidedBy: 'ann@example.com',
      comments: 'Yes.',
      submittedData: { account: 'DE-1', share: 2 },
      via: 'link',
    });
    const used = await open(link);
    expect(used).toMatchObject({ status: 409, body: expect.stringContaining('Your decision was taken') });
    expect(used.body).toContain('approved by ann@example.com');
    expect((await send(link, { decision: 'rejected', comments: 'No.' })).status).toBe(409);
    expect((await open(link, { accept: 'application/json' })).body).toMatchObject({ code: 'already_decided' });

    // The trace names the approvers and the notified; it holds no link, and neither does the history.
    const { items } = (await gateway.request('GET', `/api/executions/${id}/steps`)).body;
    expect(items.map(({ path, status }: { path: string; status: string }) => `${path} ${status}`)).toEqual([
      'review completed',
      'review/notify/asked[0] completed',
      'review/notify/decided[0] completed',
      'done completed',
    ]);
    expect(items[1].input).toMatchObject({ channel: 'email', to: 'ann@example.com' });
    const token = link.slice('/approvals/'.length);
    const handle = gateway.server.client.workflow.getHandle(id);
    const history = JSON.stringify(await handle.fetchHistory());
    const payloads = [...history.matchAll(/"data":"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
      Buffer.from(data, 'base64').toString(),
    );
    for (const text of [JSON.stringify(items), history, ...payloads, JSON.stringify((await handle.describe()).memo)])
      expect(text.includes(token) || text.includes(token.split('.')[1] ?? token)).toBe(false);
    expect(box.mails.at(-1)).toContain('Approved by ann@example.com.');
  });

  it('says that the decision was taken also where it has ended the run', async () => {
    const { id, links } = await asking({ onReject: 'cancel', commentRequired: true }, ['ann@example.com']);
    const [link = ''] = links;
    expect((await send(link, { decision: 'rejected', comments: 'No.' })).status).toBe(200);
    expect((await result(id)).status).toBe('cancelled');
    const again = await send(link, { decision: 'rejected', comments: 'No.' });
    expect(again).toMatchObject({ status: 409, body: expect.stringContaining('Your decision was taken') });
  });

  it('obeys the rules of the approval: each person one vote, and only who is asked', async () => {
    const people = ['ann@example.com', 'eve@example.com'];
    const { id, links } = await asking({ quorum: 2, approvers: { roles: ['finance'], users: ['ben'] } }, people);
    const [ann = '', eve = ''] = links;
    expect((await send(ann, { decision: 'approved' })).status).toBe(200);
    expect(await open(ann, { accept: 'application/json' })).toMatchObject({
      status: 409,
      body: { code: 'already_voted' },
    });
    expect(await open(eve)).toMatchObject({
      status: 403,
      body: expect.stringContaining('No API key has the address eve@example.com'),
    });
    expect(await send(eve, { decision: 'approved' })).toMatchObject({ status: 403 });
    expect((await gateway.request('GET', `/api/executions/${id}`)).body.status).toBe('waiting');
    await gateway.request('POST', `/api/executions/${id}/terminate`, { json: {} });
  });

  it('decides once when it is sent fifty times concurrently', async () => {
    const { id, links } = await asking({}, ['ann@example.com']);
    const [link = ''] = links;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => send(link, { decision: n % 2 === 0 ? 'approved' : 'rejected' })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    expect((await result(id)).status).toBe('completed');
  });

  it('is gone with its question, and nothing without its signature', async () => {
    const late = await asking({ timeout: '1500ms' }, ['ann@example.com']);
    expect((await result(late.id)).output).toMatchObject({ decision: 'timeout' });
    expect((await open(late.links[0] ?? '')).status).toBe(410);
    expect((await send(late.links[0] ?? '', { decision: 'approved' })).status).toBe(410);
    const cancelled = await asking({}, ['ann@example.com']);
    await gateway.request('POST', `/api/executions/${cancelled.id}/cancel`, { json: {} });
    await result(cancelled.id);
    const link = cancelled.links[0] ?? '';
    expect(await open(link, { accept: 'application/json' })).toMatchObject({ status: 410, body: { code: 'gone' } });
    const [body = '', mac = ''] = link.slice('/approvals/'.length).split('.');
    const [executionId, path, , since] = JSON.parse(Buffer.from(body, 'base64url').toString());
    const other = Buffer.from(JSON.stringify([executionId, path, 'boss', since])).toString('base64url');
    for (const forged of [`${other}.${mac}`, `${body}.x`, body, 'x'])
      expect((await open(`/approvals/${forged}`)).status).toBe(404);
  });
});

describeInBrowser('the page of a link', () => {
  it('is used on a phone, says what is wrong at its place, and has no fault that axe finds', async () => {
    const { id, links } = await asking({ form: FORM, priority: 'high', timeout: '1d' }, ['ann@example.com']);
    const browser = await openBrowser(gateway.url);
    try {
      const { page, end } = await browser.open(links[0] ?? '', { viewport: { width: 390, height: 844 } });
      await page.getByLabel('Account').waitFor();
      expect(await axe(page)).toEqual([]);
      await picture(page, 'approval-link');
      const approve = page.getByRole('button', { name: 'Approve' });
      expect((await approve.boundingBox())?.height).toBeGreaterThanOrEqual(44);
      await page.getByLabel('Account').fill('DE-7');
      await page.getByLabel('Comment').fill('Fine');
      await approve.click();
      await page.getByText('Thank you').waitFor();
      expect(await axe(page)).toEqual([]);
      await end();
      expect((await result(id)).output).toMatchObject({ submittedData: { account: 'DE-7' }, comments: 'Fine' });
    } finally {
      await browser.close();
    }
  });
});
