import { describe, expect, it } from 'vitest';
import { deciderOf } from '../../src/client/runs/link-decider.ts';
import { type KnownPeople, peopleOf } from '../../src/contract/organization/people.ts';

const key = { roles: [], groups: [] };
const people = peopleOf([
  { ...key, user: 'Ann@Example.org', role: 'viewer', roles: ['finance'], emails: ['a2@example.org'] },
  { ...key, user: 'Ann@Example.org', role: 'approver', groups: ['board'] },
  { ...key, user: 'vic', role: 'runner', emails: ['vic@example.org'] },
  { ...key, user: 'ben', role: 'admin' },
]);
const some: KnownPeople = { held: 'some', people };

describe('as whom a link decides', () => {
  it('is its person, with all addresses, and with the roles and groups of the keys that may decide', () => {
    const ann = { roles: [], groups: ['board'], names: ['ann@example.org', 'a2@example.org'] };
    for (const person of ['ANN@example.org', 'A2@example.org', 'Ann@Example.org'])
      expect(deciderOf({ person }, some, false)).toEqual({ id: 'Ann@Example.org', as: ann, via: 'link' });
    expect(deciderOf({ person: 'Ann@Example.org', to: 'A2@example.org' }, some, false).via).toBe('link');
  });

  it('is recorded where it was sent elsewhere, with the owner of that address', () => {
    expect(deciderOf({ person: 'ben', to: 'a2@example.org' }, some, false)).toMatchObject({
      id: 'ben',
      via: 'link to a2@example.org',
      holder: { id: 'Ann@Example.org', names: ['ann@example.org', 'a2@example.org'] },
    });
    expect(deciderOf({ person: 'ben', to: 'Other@example.org' }, some, false).holder).toEqual({
      id: 'other@example.org',
      names: ['other@example.org'],
    });
    const toChannel = deciderOf({ person: 'ben', to: 'slack' }, some, false);
    expect(toChannel).toEqual({ id: 'ben', as: { roles: [], groups: [], names: [] }, via: 'link to slack' });
  });

  it('is nobody without a key that may decide, unless outsiders may; a key that may not is no outsider', () => {
    const refused = (person: string, known = some, outsiders = false) => {
      expect(() => deciderOf({ person }, known, outsiders)).toThrow(
        expect.objectContaining({ code: 'not_an_approver' }),
      );
    };
    refused('eve@example.org');
    refused('eve');
    refused('vic@example.org');
    refused('vic@example.org', some, true);
    refused('ann@example.org', { held: 'revoked', people: [] });
    expect(deciderOf({ person: 'Eve@example.org' }, some, true)).toEqual({
      id: 'eve@example.org',
      as: { roles: [], groups: [], names: ['eve@example.org'] },
      via: 'link to Eve@example.org',
    });
  });

  it('is whoever has the link, while there has never been a key', () => {
    const never: KnownPeople = { held: 'never', people: [] };
    expect(deciderOf({ person: 'eve@example.org' }, never, false)).toEqual({ id: 'eve@example.org', via: 'link' });
    expect(deciderOf({ person: 'ben', to: 'eve@example.org' }, never, false)).toEqual({ id: 'ben', via: 'link' });
  });
});
