import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOf, loginTarget, matchRoute, queryText, ROUTE_NAMES } from '../../src/console/routes.ts';

const parse = (address: string) => {
  const url = new URL(address, 'http://localhost');
  return matchRoute(url.pathname, url.search);
};

describe('addresses of the console', () => {
  it('name a screen, its parameters and its query', () => {
    expect(addressOf('home')).toBe('/console');
    expect(addressOf('runs', {}, { status: 'failed', tag: '', 'started[gte]': '2026-01-01' })).toBe(
      '/console/runs?status=failed&started%5Bgte%5D=2026-01-01',
    );
    expect(addressOf('approval', { executionId: 'run.default.a/1', path: 'each[2]/ask~3' })).toBe(
      '/console/approvals/run.default.a%2F1/each%5B2%5D%2Fask~3',
    );
    expect(parse('/console')).toEqual({ name: 'home', params: {}, query: {}, path: '/console' });
    expect(parse('/console/')).toMatchObject({ name: 'home' });
    expect(parse('/console/workflows/refund/versions?from=1.0.0&to=1.1.0')).toMatchObject({
      name: 'versions',
      params: { slug: 'refund' },
      query: { from: '1.0.0', to: '1.1.0' },
    });
    expect(parse('/console/runs/run.a.b?in=each:7&in=each:8')).toMatchObject({ name: 'run', query: { in: 'each:8' } });
  });

  it('are undefined where there is no screen', () => {
    for (const address of ['/', '/consoles', '/console/nowhere', '/console/runs/a/b', '/console/settings/other'])
      expect(parse(address), address).toBeUndefined();
    expect(matchRoute('/console/runs/%zz', '')).toBeUndefined();
    expect(matchRoute('/console/runs//', '')).toMatchObject({ name: 'runs' });
    expect(queryText({ status: undefined, tag: '' })).toBe('');
  });

  it('come back as they were, whatever stands in them', () => {
    const word = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !/^\.{1,2}$/.test(text));
    const names = ROUTE_NAMES.filter((name) => name !== 'settings');
    fc.assert(
      fc.property(fc.constantFrom(...names), word, word, fc.dictionary(word, word), (name, first, second, query) => {
        const given = { id: first, slug: second, executionId: first, path: second };
        const address = (addressOf as (...args: unknown[]) => string)(name, given, query);
        const place = parse(address);
        expect(place?.name).toBe(name);
        expect(given).toMatchObject(place?.params ?? {});
        expect(place?.query).toEqual({ ...query });
      }),
    );
  });
});

describe('the address after a login', () => {
  it('is one of the console', () => {
    expect(loginTarget('/console/runs/a?step=b')).toBe('/console/runs/a?step=b');
    for (const to of [
      undefined,
      '',
      'https://elsewhere.example/console/runs',
      '//elsewhere.example/console/',
      '/docs',
      '/console/nowhere',
      '/console/login?to=/console/runs',
      '/console/\\elsewhere.example',
      'javascript:alert(1)',
    ])
      expect(loginTarget(to), String(to)).toBe('/console');
  });
});
