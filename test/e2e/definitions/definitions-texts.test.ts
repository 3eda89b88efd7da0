// The text of a definition as its author wrote it, kept with each change.

import { describe, expect, it } from 'vitest';
import { echoDefinition, sharedGateway, unique } from '../gateway/gateway-support.ts';

const gateway = sharedGateway({ SIGNALBOX_HISTORY_LIMIT: '30' });

const yaml = (slug: string, text: string, headers: Record<string, string> = {}) =>
  gateway.request('PUT', `/api/workflows/${slug}`, {
    text,
    headers: { 'content-type': 'application/yaml', ...headers },
  });
const get = (path: string) => gateway.request('GET', path);
const textOf = async (slug: string, query = '') => (await get(`/api/workflows/${slug}/text${query}`)).body;

const written = (slug: string, comment: string, more = ''): string =>
  `# ${comment}\nname: Echo   # for people\nslug: ${slug}\n${more}steps:\n\n` +
  '  received: {stepType: trigger, nextSteps: {success: done}}\n' +
  '  done: {stepType: finish, config: {output: "{{ input }}"}}\n';

describe('the text of a definition', () => {
  it('is answered as it was written, and again changed where only comments differ', async () => {
    const slug = unique('text');
    const first = await yaml(slug, written(slug, 'One'));
    const firstTag = first.headers.get('etag') ?? '';
    expect(firstTag).toMatch(new RegExp(`^"${first.body.hash}\\.[0-9a-f]{16}"$`));
    expect(await textOf(slug)).toEqual({
      slug,
      hash: first.body.hash,
      textHash: first.body.textHash,
      media: 'yaml',
      text: written(slug, 'One'),
    });
    const second = await yaml(slug, written(slug, 'Two'), { 'if-match': firstTag });
    expect(second).toMatchObject({ status: 200, body: { hash: first.body.hash, version: first.body.version } });
    expect((await textOf(slug)).text).toBe(written(slug, 'Two'));
    const late = await yaml(slug, written(slug, 'Three'), { 'if-match': firstTag });
    expect(late).toMatchObject({ status: 412, body: { code: 'hash_mismatch' } });
    expect((await yaml(slug, written(slug, 'Three'), { 'if-match': `"${first.body.hash}"` })).status).toBe(412);

    // The same definition from a program: the text stays.
    const same = await gateway.request('PUT', `/api/workflows/${slug}`, { json: echoDefinition(slug) });
    expect(same.body).toMatchObject({ hash: first.body.hash, textHash: second.body.textHash });
    const { items } = (await get(`/api/workflows/${slug}/history`)).body;
    expect(items.map((one: { textHash: string }) => one.textHash)).toEqual([second.body.textHash, first.body.textHash]);
    expect((await textOf(slug, `?text=${first.body.textHash}`)).text).toBe(written(slug, 'One'));
  });

  it('follows a rollback and changed fields, and goes with another definition', async () => {
    const slug = unique('text-follows');
    const first = (await yaml(slug, written(slug, 'One'))).body;
    const other = await gateway.request('PUT', `/api/workflows/${slug}`, {
      json: echoDefinition(slug, { description: 'By a program' }),
    });
    expect(other.body.textHash).toBeUndefined();
    const made = await textOf(slug);
    expect(made).toMatchObject({ hash: other.body.hash, media: 'yaml', text: expect.stringContaining('By a program') });
    expect(made.textHash).toBeUndefined();
    await gateway.request('POST', `/api/workflows/${slug}/rollback`, { json: { workflowHash: first.hash } });
    expect((await textOf(slug)).text).toBe(written(slug, 'One'));
    await gateway.request('PATCH', `/api/workflows/${slug}`, { json: { name: 'Echo it', tags: ['a'] } });
    const patched = (await textOf(slug)).text;
    expect(patched).toContain('# One\ntags: ["a"]\nname: "Echo it"   # for people\n');
    expect((await textOf(slug, `?hash=${first.hash}`)).text).toBe(written(slug, 'One'));
    await gateway.request('POST', `/api/workflows/${slug}/disable`, { json: {} });
    expect((await textOf(slug)).text).toBe(patched);
  });

  it('never holds a secret in clear, and survives the actor going on as a new run', async () => {
    const slug = unique('text-secret');
    const secrets = 'config: {secrets: {PAY: {value: clear-secret-9}}} # rotate in May\n';
    for (let n = 0; n < 12; n++) await yaml(slug, written(slug, `Round ${n}`, secrets));
    const { text } = await textOf(slug);
    expect(text).toBe(
      written(slug, 'Round 11', secrets.replace('{value: clear-secret-9}', `"workflows/${slug}/secrets/PAY"`)),
    );
    const { items } = (await get(`/api/workflows/${slug}/history`)).body;
    expect(items).toHaveLength(12);
    const oldest = await textOf(slug, `?text=${items[11].textHash}`);
    expect(oldest.text).toContain('# Round 0\n');
    // A comment that repeats the secret: nothing is kept.
    const leaking = await yaml(slug, written(slug, 'clear-secret-9', secrets));
    expect(leaking).toMatchObject({ status: 200 });
    expect((await textOf(slug)).text).not.toContain('clear-secret-9');
  });

  it('refuses what is not there', async () => {
    const slug = unique('text-none');
    expect((await get(`/api/workflows/${slug}/text`)).body).toMatchObject({ status: 404, code: 'not_found' });
    await yaml(slug, written(slug, 'One'));
    const unknown = await get(`/api/workflows/${slug}/text?text=${'0'.repeat(64)}`);
    expect(unknown.body).toMatchObject({ status: 404, code: 'version_not_found' });
    expect((await get(`/api/workflows/${slug}/text?hash=${'0'.repeat(64)}`)).body.code).toBe('version_not_found');
  });

  it('of a proposal is that of the version which it becomes', async () => {
    const slug = unique('text');
    const more = 'constraints: {allowSelfModification: true, proposerMayReview: true}\n';
    const { hash } = (await yaml(slug, written(slug, 'One', more))).body;
    const text = written(slug, 'Two', `${more}tags: [proposed]\n`);
    const address = `/api/workflows/${slug}/proposals`;
    const made = await gateway.request('POST', address, { json: { baseWorkflowHash: hash, text } });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const mistaken = { baseWorkflowHash: hash, text: 'name: [\n' };
    expect((await gateway.request('POST', address, { json: mistaken })).status).toBeGreaterThanOrEqual(400);
    const one = `${address}/${made.body.id}`;
    expect((await gateway.request('POST', `${one}/review`, { json: { decision: 'approve' } })).status).toBe(200);
    expect((await gateway.request('POST', `${one}/apply`)).status).toBe(200);
    expect((await textOf(slug)).text).toBe(text);
  });
});
