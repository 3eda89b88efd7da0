import { describe, expect, it } from 'vitest';
import type { RoleClaims } from '../../src/contract/run/run.ts';
import type { DecisionEvent } from '../../src/steps/kind.ts';
import { approval } from '../../src/steps/kinds/approval/approval.ts';
import { userInput } from '../../src/steps/kinds/user-input.ts';
import { Driven, type Given } from './kind-driver.ts';

const HOUR = 3_600_000;
const asked = (config: object, given?: Given): Driven => {
  const driven = new Driven(approval, { message: 'Pay?', ...config }, given);
  driven.begin();
  return driven;
};
const as = (roles: string[] = [], groups: string[] = []): RoleClaims => ({ roles, groups });
const person = (by: string, standing = as()): Partial<DecisionEvent> => ({ by, as: standing });
const approve = (by: string, standing = as()): DecisionEvent => ({
  on: 'decision',
  decision: 'approved',
  via: 'api',
  by,
  as: standing,
});

describe('approvers', () => {
  const driven = () => asked({ approvers: { users: ['ann'], roles: ['finance'], groups: ['board'] } });

  it.each([
    ['the user', 'ann', as()],
    ['one of the role', 'bob', as(['approver', 'finance'])],
    ['one of the group', 'cid', as(['approver'], ['board'])],
  ])('may decide: %s', (_who, by, standing) => {
    expect(driven().refusal(approve(by, standing))).toBeUndefined();
    expect(driven().decide('approved', person(by, standing))).toMatchObject({ port: 'approved' });
  });

  it.each([
    ['another user', 'bob', as(['approver'])],
    ['one whose role is called as the user', 'dan', as(['ann'])],
    ['one whose group is called as the role', 'eve', as([], ['finance'])],
    ['one who is called as the role', 'finance', as()],
  ])('nobody else may: %s', (_who, by, standing) => {
    expect(driven().refusal(approve(by, standing))).toBe('not_an_approver');
    expect(driven().decide('approved', person(by, standing))).toEqual({ do: 'ignore' });
  });

  it('are named by addresses of theirs, in any case', () => {
    const named = () => asked({ approvers: { users: ['Ann@Example.org', 'ben'] }, quorum: 2 });
    const ann = { ...as(), names: ['ann@example.org', 'a2@example.org'] };
    expect(named().refusal(approve('ann', ann))).toBeUndefined();
    expect(named().refusal(approve('ann', { ...ann, names: ['a2@example.org'] }))).toBe('not_an_approver');
    const voted = named();
    expect(voted.decide('approved', person('ann', ann))).toMatchObject({ waiting: { votes: { have: 1, needed: 2 } } });
    // A vote under an address, as earlier versions took it, is the person's.
    const before = asked({ approvers: { users: ['a2@example.org', 'ann'] }, quorum: 'all' });
    before.decide('approved', person('a2@example.org'));
    expect(before.refusal(approve('ann', ann))).toBe('already_voted');
  });

  it('are two where a link decides as another than its owner: neither votes again, and neither started the run', () => {
    const holder = { id: 'eve', names: ['eve@example.org'] };
    const link = (by: string): DecisionEvent => ({ ...approve(by), via: 'link to eve@example.org', holder });
    const two = asked({ approvers: ['ann', 'ben', 'eve'], quorum: 2 });
    expect(two.decide('approved', link('ann'))).toMatchObject({ waiting: { notBy: ['ann', 'eve'] } });
    expect(two.refusal(link('ben'))).toBe('already_voted');
    expect(two.refusal(approve('eve'))).toBe('already_voted');
    expect(two.refusal(approve('EVE@example.org', { ...as(), names: ['eve@example.org'] }))).toBe('not_an_approver');
    const own = asked({ approvers: ['ann'] }, { initiator: 'eve' });
    expect(own.refusal(link('ann'))).toBe('requester_may_not_approve');
    const renamed = asked({ approvers: ['ann'] }, { initiator: 'Eve@Example.org' });
    expect(renamed.refusal(link('ann'))).toBe('requester_may_not_approve');
  });

  it('are all who may approve, where nobody is named', () => {
    expect(asked({}).refusal(approve('anybody'))).toBeUndefined();
  });

  it('do not matter while there are no persons', () => {
    expect(driven().decide('approved')).toMatchObject({ port: 'approved', data: { decidedBy: null } });
  });

  it('are others once it is escalated', () => {
    const escalating = asked({ approvers: ['ann'], timeout: '1h', onTimeout: 'escalate', escalateTo: 'role:boss' });
    const before = escalating.outcome;
    const after = escalating.fire(HOUR);
    expect(before).toMatchObject({ waiting: { audience: ['user:ann'] } });
    expect(after).toMatchObject({ waiting: { audience: ['role:boss'], revision: 1 } });
    expect(escalating.refusal(approve('ann'))).toBe('not_an_approver');
    expect(escalating.refusal(approve('zoe', as(['boss'])))).toBeUndefined();
  });
});

describe('the person who started the run', () => {
  it('may not decide, whichever key it is', () => {
    const driven = asked({ approvers: ['ann', 'bob'] }, { initiator: 'ann' });
    expect(driven.outcome).toMatchObject({ waiting: { notBy: ['ann'] } });
    expect(driven.refusal(approve('ann', as(['admin'])))).toBe('requester_may_not_approve');
    expect(driven.decide('rejected', person('bob'))).toMatchObject({ port: 'rejected' });
  });

  it('may not decide on a fork either, nor may who forked it', () => {
    const fork = { initiator: 'bob', requesters: ['ann'] };
    const driven = asked({ approvers: ['ann', 'bob', 'cid'], quorum: 'all' }, fork);
    expect(driven.outcome).toMatchObject({ waiting: { notBy: ['bob', 'ann'] } });
    for (const name of ['ann', 'bob']) expect(driven.refusal(approve(name))).toBe('requester_may_not_approve');
    expect(driven.decide('approved', person('cid'))).toMatchObject({ port: 'approved' });
  });

  it('may where the step says so', () => {
    const driven = asked({ requesterMayApprove: true }, { initiator: 'ann' });
    expect(driven.outcome).not.toHaveProperty('waiting.notBy');
    expect(driven.refusal(approve('ann'))).toBeUndefined();
  });

  it('may while there are no persons', () => {
    expect(asked({}, { initiator: 'ann' }).decide('approved')).toMatchObject({ port: 'approved' });
  });

  it('is not waited for where all must approve', () => {
    const driven = asked({ approvers: ['ann', 'bob', 'cid'], quorum: 'all' }, { initiator: 'ann' });
    expect(driven.decide('approved', person('bob'))).toMatchObject({ do: 'suspend' });
    expect(driven.decide('approved', person('cid'))).toMatchObject({ port: 'approved' });
  });

  it('is not counted among those who could still approve', () => {
    const driven = asked({ approvers: ['ann', 'bob', 'cid'], quorum: 2 }, { initiator: 'ann' });
    expect(driven.decide('rejected', person('bob'))).toMatchObject({ port: 'rejected' });
  });
});

describe('votes of persons', () => {
  it('are told with what they stand for, and to lists', () => {
    const driven = asked({ approvers: ['ann', 'role:finance'], quorum: 'all' });
    expect(driven.decide('approved', person('ann'))).toMatchObject({ waiting: { notBy: ['ann'], revision: 1 } });
    expect(driven.refusal(approve('ann', as(['finance'])))).toBe('already_voted');
    expect(driven.decide('approved', person('bob', as(['finance'])))).toMatchObject({
      port: 'approved',
      data: {
        votes: [
          { by: 'ann', for: ['user:ann'] },
          { by: 'bob', for: ['role:finance'] },
        ],
      },
    });
  });

  it('all: two of one role do not stand for a user', () => {
    const driven = asked({ approvers: ['ann', 'role:finance'], quorum: 'all' });
    driven.decide('approved', person('bob', as(['finance'])));
    expect(driven.decide('approved', person('cid', as(['finance'])))).toMatchObject({ do: 'suspend' });
    expect(driven.decide('approved', person('ann'))).toMatchObject({ port: 'approved' });
  });

  it('a signal of an operator decides in spite of them', () => {
    const driven = asked({ approvers: ['ann', 'bob'], quorum: 'all' }, { initiator: 'ann' });
    driven.decide('rejected', { via: 'temporal', by: 'ann' });
    const override = { via: 'temporal', override: true, reason: 'both are away' };
    expect(driven.decide('approved', override)).toMatchObject({ port: 'approved', data: { via: 'temporal' } });
  });
});

describe('assignees of a user input', () => {
  const input = (config: object) => {
    const driven = new Driven(userInput, { message: 'Where to?', ...config });
    driven.begin();
    return driven;
  };
  const submission = (by: string, standing = as()) => ({
    on: 'submit' as const,
    data: {},
    via: 'api',
    by,
    as: standing,
  });

  it('alone may answer, where there are persons', () => {
    const driven = input({ assignees: ['ann', 'role:support'] });
    expect(driven.refusal(submission('bob'))).toBe('not_an_assignee');
    expect(driven.resume(submission('bob'))).toEqual({ do: 'ignore' });
    expect(driven.refusal(submission('cid', as(['support'])))).toBeUndefined();
    expect(driven.refusal({ on: 'submit', data: {}, via: 'api' })).toBeUndefined();
    expect(driven.resume(submission('ann'))).toMatchObject({ port: 'submitted', meta: { submittedBy: 'ann' } });
  });

  it('are everybody, where nobody is named', () => {
    expect(input({}).refusal(submission('bob'))).toBeUndefined();
  });
});
