import { describe, expect, it } from 'vitest';
import { hostMatches, putSecret } from '../../src/client/organization/secrets.ts';
import type { WriteAccess } from '../../src/client/temporal/access.ts';

describe('a host that a secret is bound to', () => {
  it.each([
    ['api.example.com', 'api.example.com', true],
    ['api.example.com', 'API.Example.com:8443', true],
    ['api.example.com:8443', 'api.example.com:8443', true],
    ['api.example.com:8443', 'api.example.com', false],
    ['api.example.com', 'api.example.com.evil.net', false],
    ['api.example.com', 'evil-api.example.com', false],
    ['*.example.com', 'api.example.com', true],
    ['*.example.com', 'a.b.example.com:8443', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'evilexample.com', false],
    ['*.example.com', 'example.com.evil.net', false],
  ])('%s covers %s: %s', (allowed, host, isCovered) => {
    expect(hostMatches(allowed, host)).toBe(isCovered);
  });
});

it('a secret that is too short to be kept out of results is not stored', async () => {
  await expect(putSecret({} as WriteAccess, 'default', 'pin', { value: '123' })).rejects.toMatchObject({
    code: 'secret_too_short',
  });
});
