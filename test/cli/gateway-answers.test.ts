import { expect, expectTypeOf, it } from 'vitest';
import type { Answer, ParamsOf, PathOf } from '../../src/cli/gateway-answers.ts';
import { pathWithParams } from '../../src/cli/gateway-client.ts';

it('knows by method and path what a route answers', () => {
  type Me = Answer<'GET', '/api/me'>['body'];
  expectTypeOf<Me>().toHaveProperty('organization');
  // @ts-expect-error The route answers no such member.
  expectTypeOf<Me['organizationId']>();
  expectTypeOf<Answer<'PUT', '/api/secrets/:name'>['status']>().toEqualTypeOf<200 | 201>();
  expectTypeOf<Answer<'DELETE', '/api/keys/:id'>['body']>().toEqualTypeOf<null>();
  expectTypeOf<'/api/workflows/:slug/enable'>().toExtend<PathOf<'POST'>>();
  expectTypeOf<'/api/workflows/:slug/enable'>().not.toExtend<PathOf<'GET'>>();
  expectTypeOf<ParamsOf<'/api/workflows/:slug/proposals/:id/review'>>().toEqualTypeOf<'slug' | 'id'>();
});

it('fills in parameters and query, and leaves out what is undefined', () => {
  const call = { params: { slug: 'a', id: 'b/c d' }, query: { status: undefined, tag: 'x&y' } };
  expect(pathWithParams('/api/workflows/:slug/proposals/:id', call)).toBe(
    '/api/workflows/a/proposals/b%2Fc%20d?tag=x%26y',
  );
  expect(pathWithParams('/api/me', {})).toBe('/api/me');
});
