// For whom the links of approvals decide, where the organization has keys.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { type Answer, requestTo, type TestGateway, testGateway, unique } from '../gateway/gateway-support.ts';
import { type Mailbox, mailbox } from './mailbox.ts';

let gateway: TestGateway;
let mails: Mailbox;
let approver: string;
let runner: string;
const n = unique('p').toLowerCase();
const [ann, leo, vic, rob, eve] = ['ann', 'leo', 'vic', 'rob', 'eve'].map((name) => `${name}.${n}@example.com`);

beforeAll(async () => {
  mails = await mailbox();
  gateway = await testGateway({
    SIGNALBOX_ADMIN_KEY: 'an-admin-of-the-environment-0123456789',
    SIGNALBOX_PUBLIC_URL: 'http://signalbox.test',
    SIGNALBOX_SMTP_URL: mails.url,
    SIGNALBOX_MAIL_FROM: 'Signalbox <signalbox@example.com>',
  });
  const make = async (key: JsonObject): Promise<string> =>
    (await gateway.request('POST', '/api/keys', { json: { name: unique('key'), ...key } })).body.key;
  approver = await make({ user: `ann ${n}`, role: 'approver', roles: [`finance-${n}`], emails: [ann!] });
  // The second address of a person may stand at another of their keys.
  await make({ user: `ann ${n}`, role: 'viewer', emails: [`second.${ann}`] });
  await make({ user: leo!, role: 'editor', groups: [`board-${n}`] });
  await make({ user: `vic ${n}`, role: 'viewer', roles: [`finance-${n}`], emails: [vic!] });
  runner = await make({ user: `rob ${n}`, role: 'runner', emails: [rob!] });
});
afterAll(async () => {
  await gateway.close();
  await mails.close();
});

interface Asked {
  readonly id: string;
  readonly links: readonly string[];
}

/** A run, started with that key, whose approval sends these messages. */
async function asking(config: JsonObject, to: readonly string[], more: JsonObject = {}, key?: string): Promise<Asked> {
  const message = unique('Refund');
  const slug = unique('refund');
  const notify = [{ channel: 'email', to: [...to], ...more }];
  const review = {
    stepType: 'approval',
    config: { message, notify, ...config },
    nextSteps: { approved: 'done', rejected: 'done' },
  };
  const done = { stepType: 'finish', config: { output: '{{ steps.review.output.data }}' } };
  const definition = { name: slug, slug, steps: { review, done } };
  await gateway.request('PUT', `/api/workflows/${slug}`, { json: definition as unknown as Json });
  const { body } = await gateway.request('POST', '/api/triggers/manual/run', {
    json: { workflowId: slug },
    ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
  });
  const links = await mails.links(message, to);
  return { id: String(body.executionId), links };
}

const send = (link: string | undefined, decision = 'approved'): Promise<Answer> =>
  requestTo(gateway.url, 'POST', link ?? '', { json: { decision } });
const statusOf = async (id: string) => (await gateway.request('GET', `/api/executions/${id}`)).body.status;
const outputOf = async (id: string) =>
  (await gateway.request('GET', `/api/executions/${id}/result?wait=20`)).body.output;
const end = (id: string) => gateway.request('POST', `/api/executions/${id}/terminate`, { json: {} });

describe('a link of an approval, where there are keys', () => {
  it('decides for a person who is asked by a role, with any address of theirs in any case, and says so', async () => {
    const { id, links } = await asking({ approvers: { roles: [`finance-${n}`] } }, [`Second.${ann}`.toUpperCase()]);
    const page = await requestTo(gateway.url, 'GET', links[0] ?? '', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.body).toContain(`You decide as ann ${n} with the role finance-${n}.`);
    expect(page.body).toMatch(/<dt>Asked at<\/dt><dd>\d+ \w+ \d{4}, \d\d:\d\d UTC<\/dd>/);
    expect((await send(links[0])).status).toBe(200);
    expect(await outputOf(id)).toMatchObject({ decidedBy: `ann ${n}`, via: 'link' });
  });

  it('decides for nobody else: no key, a role that may not, or a person who is not asked', async () => {
    const free = await asking({}, [eve!, vic!, rob!, leo!], {}, runner);
    const refused = await Promise.all(free.links.slice(0, 3).map((link) => send(link)));
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 3 }, () => [403, 'not_an_approver']),
    );
    expect(refused[0]?.body.detail).toContain(`No API key has the address ${eve}`);
    expect(refused[1]?.body.detail).toContain('has the role viewer, and a decision needs approver');
    await expect.poll(() => statusOf(free.id)).toBe('waiting');
    // Without approvers, whoever may decide.
    expect((await send(free.links[3])).status).toBe(200);
    expect(await outputOf(free.id)).toMatchObject({ decidedBy: leo, via: 'link' });

    const named = await asking({ approvers: { users: [`ann ${n}`] }, outsiders: true }, [leo!, eve!]);
    for (const link of named.links) expect((await send(link)).body).toMatchObject({ code: 'not_an_approver' });
    expect(await statusOf(named.id)).toBe('waiting');
    await end(named.id);
  });

  it('decides for an outsider where the approval says so, and records the address', async () => {
    const { id, links } = await asking({ approvers: { users: [eve!] }, outsiders: true }, [eve!]);
    expect((await send(links[0])).status).toBe(200);
    expect(await outputOf(id)).toMatchObject({ decidedBy: eve, via: `link to ${eve}` });
  });

  it('counts persons for a quorum, not addresses', async () => {
    const approvers = { users: [ann!, `second.${ann}`, leo!] };
    const { id, links } = await asking({ quorum: 2, approvers }, [ann!, `second.${ann}`, leo!]);
    expect((await send(links[0])).status).toBe(200);
    expect((await send(links[1])).body).toMatchObject({ code: 'already_voted' });
    const byKey = await gateway.request('POST', `/api/executions/${id}/approve`, {
      json: { approve: true },
      headers: { authorization: `Bearer ${approver}` },
    });
    expect(byKey.body).toMatchObject({ code: 'already_voted' });
    expect((await send(links[0])).body).toMatchObject({ code: 'already_voted' });
    expect(await statusOf(id)).toBe('waiting');
    expect((await send(links[2])).status).toBe(200);
    expect(await outputOf(id)).toMatchObject({ decision: 'approved' });
    // A vote that was followed by others is not lost for its person.
    expect((await send(links[0])).body.detail).toContain('Your vote was taken');
  });

  it('holds four eyes for the person behind an address, and for the one as whom it decides', async () => {
    const own = await asking({}, [ann!, `second.${ann}`], {}, approver);
    for (const link of own.links)
      expect((await send(link)).body).toMatchObject({ status: 403, code: 'requester_may_not_approve' });
    await end(own.id);
    const asBoss = await asking({ approvers: { users: [leo!] } }, [ann!], { as: leo! }, approver);
    expect((await send(asBoss.links[0])).body).toMatchObject({ code: 'requester_may_not_approve' });
    await end(asBoss.id);
  });

  it('records the address where it decides as another, and counts one mailbox once', async () => {
    const config = { approvers: { users: [leo!, `ann ${n}`] }, quorum: 'all' };
    const { id, links } = await asking(config, [eve!], { as: leo! });
    expect((await send(links[0])).status).toBe(200);
    const { body } = await gateway.request('GET', `/api/approvals/${id}/review`);
    expect(body).toMatchObject({ status: 'pending', votes: { have: 1, needed: 2 }, notBy: ['admin', leo, eve] });
    await gateway.request('POST', `/api/executions/${id}/approve`, {
      json: { approve: true },
      headers: { authorization: `Bearer ${approver}` },
    });
    expect((await outputOf(id)).votes).toMatchObject([
      { by: leo, via: `link to ${eve}`, holder: eve },
      { by: `ann ${n}`, via: 'api' },
    ]);
  });

  it('is of no use once the keys of its person are revoked', async () => {
    const user = `leaver.${n}@example.com`;
    const key = { name: unique('leaver'), user, role: 'approver' };
    const { id: keyId } = (await gateway.request('POST', '/api/keys', { json: key })).body;
    const { id, links } = await asking({ approvers: { users: [user] } }, [user]);
    expect((await requestTo(gateway.url, 'GET', links[0] ?? '', {})).status).toBe(200);
    await gateway.request('DELETE', `/api/keys/${keyId}`);
    expect((await send(links[0])).body).toMatchObject({ status: 403, code: 'not_an_approver' });
    expect(await statusOf(id)).toBe('waiting');
    await end(id);
  });
});

describe('the links of an organization whose last key was revoked', () => {
  it('decide nothing, as it has had keys', async () => {
    const organization = unique('acme').toLowerCase();
    const made = { name: 'zoe', role: 'editor', emails: [`zoe.${n}@example.com`], organization };
    const { id: keyId, key } = (await gateway.request('POST', '/api/keys', { json: made })).body;
    const asAcme = { headers: { authorization: `Bearer ${key}` } };
    const message = unique('Refund');
    const review = {
      stepType: 'approval',
      config: { message, outsiders: false, notify: [{ channel: 'email', to: made.emails }] },
      nextSteps: { approved: 'done', rejected: 'done' },
    };
    const definition = { name: 'r', slug: 'r', steps: { review, done: { stepType: 'finish' } } } as unknown as Json;
    expect((await gateway.request('POST', '/api/executions', { json: { definition }, ...asAcme })).status).toBe(201);
    const [link = ''] = await mails.links(message, made.emails);
    // Who has started the run is asked by the link too, and refused as that.
    expect((await send(link)).body).toMatchObject({ code: 'requester_may_not_approve' });
    await gateway.request('DELETE', `/api/keys/${keyId}?organization=${organization}`);
    expect((await send(link)).body).toMatchObject({
      status: 403,
      code: 'not_an_approver',
      detail: expect.stringContaining('All API keys of this organization were revoked'),
    });
  });
});

describe('the addresses of keys', () => {
  it('belong to one person, whatever their case', async () => {
    const make = (json: JsonObject) =>
      gateway.request('POST', '/api/keys', { json: { name: unique('k'), role: 'viewer', ...json } });
    expect(await make({ user: 'somebody', emails: [String(ann).toUpperCase()] })).toMatchObject({
      status: 409,
      body: { code: 'address_taken', detail: expect.stringContaining(`belongs to ann ${n}`) },
    });
    expect((await make({ user: String(ann).toUpperCase() })).body).toMatchObject({ code: 'address_taken' });
    expect((await make({ user: 'somebody', emails: [leo!] })).body).toMatchObject({ code: 'address_taken' });
    expect((await make({ user: `ann ${n}`, emails: [ann!, `third.${ann}`] })).status).toBe(201);
    expect((await make({ user: 'x', emails: ['no address'] })).status).toBe(400);
    const { items } = (await gateway.request('GET', '/api/keys?limit=1000')).body;
    expect(items).toContainEqual(expect.objectContaining({ user: `ann ${n}`, emails: [ann, `third.${ann}`] }));
  });

  it('are compared where a definition is stored', async () => {
    const slug = unique('warned');
    const store = async (config: JsonObject) => {
      const ask = {
        stepType: 'approval',
        config: { message: 'm', ...config },
        nextSteps: { approved: 'd', rejected: 'd' },
      };
      const json = { name: slug, slug, steps: { ask, d: { stepType: 'finish' } } } as unknown as Json;
      const { warnings } = (await gateway.request('PUT', `/api/workflows/${slug}`, { json })).body;
      return warnings.map(({ code, pointer }: { code: string; pointer: string }) => `${code} ${pointer}`);
    };
    const to = (...addresses: string[]) => [{ channel: 'email', to: addresses }];
    const at = '/steps/ask/config';
    expect(await store({ approvers: { users: [`ann ${n}`] }, notify: to(ann!, leo!) })).toEqual([
      `link_of_nobody ${at}/notify/0/to/1`,
    ]);
    expect(await store({ approvers: { roles: [`finance-${n}`] }, notify: to(ann!, vic!, eve!) })).toEqual([
      `link_of_nobody ${at}/notify/0/to/1`,
      `link_of_nobody ${at}/notify/0/to/2`,
    ]);
    expect(await store({ approvers: ['nobody'], escalateTo: [`ann ${n}`] })).toEqual([
      `approver_unknown ${at}/approvers`,
    ]);
    expect(await store({ notify: to(leo!) })).toEqual([]);
    expect(await store({ outsiders: true, notify: to(eve!) })).toEqual([`outsiders_decide ${at}/outsiders`]);
  });
});
