// The search of the manual, and the way there from the gateway's address.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manual } from '../../../src/gateway/manual/manual.ts';
import { searchManual } from '../../../src/gateway/manual/search.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import { kinds } from '../../../src/steps/kinds/table.ts';
import { type GatewayWithoutTemporal, gatewayWithoutTemporal } from '../gateway-support.ts';

const pages = manual(routes);

let gateway: GatewayWithoutTemporal;
beforeAll(async () => {
  gateway = await gatewayWithoutTemporal();
});
afterAll(() => gateway.close());

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { redirect: 'manual', headers: { connection: 'close', ...headers } });

describe('the search of the manual', () => {
  it('is a form on every page, and answers without scripts and without other hosts', async () => {
    expect(await (await ask('/docs/loop')).text()).toMatch(/<form action="\/docs" role="search"><input [^>]*name="q"/);
    const answer = await ask('/docs?q=idempotency-key');
    expect(answer.status).toBe(200);
    const policy = answer.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self'");
    const html = await answer.text();
    expect(html).toContain('<mark>Idempotency-Key</mark>');
    expect(html).toMatch(/<a href="\/docs\/http">http<\/a>/);
    expect(html).not.toMatch(/<(script|img|link|iframe)\b|\bsrc=|@import|url\(/);
  });

  it('leads only to places that are there', async () => {
    const html = await (await ask('/docs?q=retry')).text();
    const links = [...html.matchAll(/<dt><a href="([^"]*)"/g)].map(([, href = '']) => href);
    expect(links.length).toBeGreaterThan(5);
    for (const href of links) {
      const [path = '', anchor] = href.split('#');
      const page = await (await ask(path)).text();
      if (anchor !== undefined) expect(page, href).toContain(`id="${anchor}"`);
    }
  });

  it.each(kinds.map(({ type }) => type))('finds the page of the kind %s first', (type) => {
    expect(searchManual(pages.values(), type)[0]?.page.name).toBe(type);
  });

  it('finds what has all of the words, settings and codes too', () => {
    const names = (query: string) => searchManual(pages.values(), query).map(({ page }) => page.name);
    expect(names('approval quorum')).toContain('approval');
    expect(names('SIGNALBOX_HISTORY_LIMIT')).toContain('settings');
    expect(names('resume_token_mismatch')).toContain('problems');
    expect(names('approval xyzzy')).toEqual([]);
    expect(names(' ')).toEqual([]);
  });

  it('shows a paragraph in one piece, however it is wrapped', () => {
    const markdown =
      'A run that waits for a person costs no process at all, and a restart does not\nchange it.\n- Another line';
    const [hit] = searchManual(
      [{ name: 'x', title: 'X', markdown: `It is said that:\n\n${markdown}` }],
      'person change',
    );
    expect(hit?.excerpt).toBe(markdown.split('\n-')[0]?.replace('\n', ' '));
  });

  it('says when nothing was found, and takes what was asked for as text', async () => {
    const html = await (await ask(`/docs?q=${encodeURIComponent('<b>"xyzzy"</b>')}`)).text();
    expect(html).toContain('Nothing was found.');
    expect(html).toContain('&lt;b&gt;&quot;xyzzy&quot;&lt;/b&gt;');
    expect(html).not.toContain('<b>"');
    const signs = await (await ask(`/docs?q=${encodeURIComponent('(.*)+ [')}`)).text();
    expect(signs).toContain('Search: (.*)+ [');
  });

  it('refuses a query that is too long, and parameters that it does not know', async () => {
    expect((await ask(`/docs?q=${'x'.repeat(201)}`)).status).toBe(400);
    expect((await ask('/docs?query=x')).status).toBe(400);
  });
});

describe('the gateway’s own address', () => {
  it.each(['*/*', 'application/json'])(
    'answers programs (%s) with a problem, as any unknown address',
    async (accept) => {
      const answer = await ask('/', { accept });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'not_found' });
    },
  );
});
