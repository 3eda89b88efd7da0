import { describe, expect, it } from 'vitest';
import type { DecisionEvent } from '../../src/steps/kind.ts';
import { approval } from '../../src/steps/kinds/approval/approval.ts';
import { Driven, type Given, NOW, parse } from './kind-driver.ts';

const HOUR = 3_600_000;
const asked = (config: object, given?: Given): Driven => {
  const driven = new Driven(
    approval,
    { message: 'Refund {{ input.amount }}?', ...config },
    { roots: { input: { amount: 5 } }, ...given },
  );
  driven.begin();
  return driven;
};
const approve: DecisionEvent = { on: 'decision', decision: 'approved', via: 'api' };

describe('an approval', () => {
  it('waits, and says whom it asks, what, and until when', () => {
    const driven = asked({ approvers: { users: ['ann'], roles: ['finance'], groups: ['board'] }, timeout: '1h' });
    expect(driven.outcome).toMatchObject({
      do: 'suspend',
      waiting: {
        kind: 'approval',
        message: 'Refund 5?',
        audience: ['user:ann', 'role:finance', 'group:board'],
        until: NOW + HOUR,
      },
      timers: [{ at: NOW + HOUR }],
    });
  });

  it('can be found by what it is about', () => {
    const driven = asked({ approvers: ['ann'], resourceType: 'order', resourceId: '{{ input.amount }}' });
    expect(driven.outcome).toMatchObject({ waiting: { audience: ['user:ann', 'resource:order', 'resource:order:5'] } });
    // It is no approver: a signal decides where none is named.
    expect(asked({ resourceType: 'order' }).refusal({ ...approve, via: 'temporal' })).toBeUndefined();
  });

  it('takes a list of names as users, unless they say otherwise', () => {
    expect(asked({ approvers: ['ann', 'role:finance'] }).outcome).toMatchObject({
      waiting: { audience: ['user:ann', 'role:finance'] },
    });
  });

  it('ends with what was decided, by whom, and how', () => {
    const driven = asked({ resourceType: 'order', resourceId: 7, priority: 'high' });
    driven.now += HOUR;
    expect(driven.decide('approved', { by: 'ann', comments: 'fine', data: { note: 'x' } })).toEqual({
      do: 'end',
      port: 'approved',
      data: {
        decision: 'approved',
        decidedBy: 'ann',
        comments: 'fine',
        submittedData: { note: 'x' },
        reviewedAt: '2026-01-15T11:30:00.000Z',
        votes: [{ decision: 'approved', by: 'ann', comments: 'fine', at: '2026-01-15T11:30:00.000Z', via: 'api' }],
        via: 'api',
      },
      meta: { priority: 'high', resourceType: 'order', resourceId: '7' },
    });
  });

  it('ends by rejected, or cancels the run where onReject says so', () => {
    expect(asked({}).decide('rejected')).toMatchObject({
      do: 'end',
      port: 'rejected',
      data: { decision: 'rejected', decidedBy: null },
    });
    expect(asked({ onReject: 'cancel' }).decide('rejected', { by: 'bob', comments: 'too dear' })).toMatchObject({
      do: 'cancel',
      reason: 'approval_denied',
      data: {
        decision: 'rejected',
        decidedBy: 'bob',
        comments: 'too dear',
        votes: [{ by: 'bob', decision: 'rejected' }],
      },
    });
  });

  it('wants a comment where the step says so', () => {
    const driven = asked({ commentRequired: true });
    expect(driven.refusal(approve)).toBe('invalid_submission');
    expect(driven.refusal({ ...approve, comments: '  ' })).toBe('invalid_submission');
    expect(driven.refusal({ ...approve, comments: 'because' })).toBeUndefined();
  });

  it.each([{ form: { note: 'string' } }, { form: '{{ form }}' }])(
    'checks what an approver fills in against %j',
    (config) => {
      const driven = asked(config, { roots: { input: { amount: 5 }, form: { note: 'string' } } });
      expect(driven.refusal({ ...approve, data: { note: 4 } })).toBe('invalid_submission');
      expect(driven.decide('approved', { data: { note: 4 } })).toEqual({ do: 'ignore' });
      expect(driven.refusal({ on: 'decision', decision: 'rejected', via: 'api' })).toBeUndefined();
      expect(driven.decide('approved', { data: { note: 'ok' } })).toMatchObject({
        port: 'approved',
        data: { submittedData: { note: 'ok' } },
      });
    },
  );

  it('is not something to submit to', () => {
    expect(asked({}).refusal({ on: 'submit', data: {}, via: 'api' })).toBe('not_waiting');
  });

  it.each([
    [{}, ''],
    [{ message: 'm', onTimeout: 'later' }, '/onTimeout'],
    [{ message: 'm', onTimeout: 'escalate' }, '/escalateTo'],
    [{ message: 'm', timeout: 'soon' }, '/timeout'],
    [{ message: 'm', reminders: ['soon'] }, '/reminders/0'],
  ])('%j is refused when it is compiled', (config, at) => {
    expect(() => approval.plan(config as never, parse, { stepType: 'approval' })).toThrow(
      expect.objectContaining({ name: 'ConfigError', at: at === '' ? '/message' : at }),
    );
  });
});

describe('votes', () => {
  const users = { users: ['ann', 'bob', 'cid'] };

  it('any: the first vote decides, either way', () => {
    expect(asked({ approvers: users }).decide('rejected', { by: 'ann' })).toMatchObject({ port: 'rejected' });
  });

  it('all: everyone named must approve', () => {
    const driven = asked({ approvers: users, quorum: 'all' });
    expect(driven.decide('approved', { by: 'ann' })).toMatchObject({ do: 'suspend' });
    expect(driven.decide('approved', { by: 'bob' })).toMatchObject({ do: 'suspend' });
    expect(driven.decide('approved', { by: 'cid' })).toMatchObject({
      port: 'approved',
      data: { votes: [{ by: 'ann' }, { by: 'bob' }, { by: 'cid' }] },
    });
  });

  it('all: one rejection rejects', () => {
    const driven = asked({ approvers: users, quorum: 'all' });
    driven.decide('approved', { by: 'ann' });
    expect(driven.decide('rejected', { by: 'bob' })).toMatchObject({ port: 'rejected' });
  });

  it('a number: rejected once too few are left who could approve', () => {
    const driven = asked({ approvers: users, quorum: 2 });
    expect(driven.decide('rejected', { by: 'ann' })).toMatchObject({ do: 'suspend' });
    expect(driven.decide('rejected', { by: 'bob' })).toMatchObject({ port: 'rejected', data: { decidedBy: 'bob' } });
  });

  it('a number of a role: by as many rejections, since nobody knows who is left', () => {
    const driven = asked({ approvers: { roles: ['finance'] }, quorum: 2 });
    expect(driven.decide('rejected', { by: 'ann' })).toMatchObject({ do: 'suspend' });
    expect(driven.decide('approved', { by: 'bob' })).toMatchObject({ do: 'suspend' });
    expect(driven.decide('approved', { by: 'cid' })).toMatchObject({ port: 'approved' });
  });

  it('nobody votes twice', () => {
    const driven = asked({ approvers: users, quorum: 2 });
    driven.decide('approved', { by: 'ann' });
    expect(driven.refusal({ ...approve, by: 'ann' })).toBe('already_voted');
    expect(driven.decide('approved', { by: 'ann' })).toEqual({ do: 'ignore' });
    expect(driven.refusal({ ...approve, by: 'bob' })).toBeUndefined();
  });

  it.each([4, 0, 'most', 1.5])('a quorum of %j of three users is refused', (quorum) => {
    const driven = new Driven(approval, { message: 'm', approvers: users, quorum });
    expect(() => driven.begin()).toThrow(expect.objectContaining({ code: 'invalid_config' }));
  });
});

describe('a signal from Temporal', () => {
  const signal: DecisionEvent = { on: 'decision', decision: 'approved', via: 'temporal' };

  it('decides where nobody is named', () => {
    expect(asked({}).resume(signal)).toMatchObject({ port: 'approved', data: { via: 'temporal', decidedBy: null } });
  });

  it.each([{ approvers: ['ann'] }, { quorum: 2 }])(
    'needs an override and a reason where the approval has %j',
    (config) => {
      const driven = asked(config);
      expect(driven.refusal(signal)).toBe('needs_override');
      expect(driven.refusal({ ...signal, override: true })).toBe('needs_override');
      expect(driven.resume({ ...signal, override: true, reason: 'ann is ill' })).toMatchObject({
        port: 'approved',
        data: { via: 'temporal', comments: 'ann is ill', votes: [{ reason: 'ann is ill' }] },
      });
    },
  );

  it('cannot be imitated through the API: an override counts only there', () => {
    const driven = asked({ approvers: ['ann', 'bob'], quorum: 'all' });
    expect(driven.decide('approved', { by: 'ann', override: true, reason: 'r' })).toMatchObject({ do: 'suspend' });
  });
});

describe('the timeout of an approval', () => {
  it('ends by its port, with details for where that is not wired', () => {
    const driven = asked({ timeout: '1h' });
    expect(driven.fire(HOUR)).toMatchObject({
      port: 'timeout',
      data: { decision: 'timeout', via: 'timeout', decidedBy: null },
    });
    expect(asked({ timeout: '1h' }, { wired: ['approved'] }).fire(HOUR)).toMatchObject({
      port: 'timeout',
      details: { votes: [] },
    });
  });

  it.each(['approved', 'rejected'] as const)('decides: %s', (onTimeout) => {
    expect(asked({ timeout: '1h', onTimeout }).fire(HOUR)).toMatchObject({
      port: onTimeout,
      data: { decision: onTimeout, via: 'timeout' },
    });
  });

  it('asks others, for as long again', () => {
    const driven = asked({
      approvers: ['ann', 'bob'],
      quorum: 'all',
      timeout: '1h',
      onTimeout: 'escalate',
      escalateTo: { roles: ['boss'] },
    });
    expect(driven.fire(HOUR)).toMatchObject({
      do: 'suspend',
      waiting: { audience: ['role:boss'], until: NOW + 2 * HOUR },
      timers: [{ suffix: '/escalation', at: NOW + 2 * HOUR }],
    });
    expect(driven.decide('approved', { by: 'zoe' })).toMatchObject({
      port: 'approved',
      meta: { escalated: '2026-01-15T11:30:00.000Z' },
    });
  });

  it('of those others ends as a timeout', () => {
    const driven = asked({ timeout: '1h', onTimeout: 'escalate', escalateTo: 'boss' });
    driven.fire(HOUR);
    expect(driven.fire(HOUR, '/escalation')).toMatchObject({ port: 'timeout' });
  });

  it('leaves reminders out that would come after it', () => {
    const driven = asked({ timeout: '1h', reminders: ['10m', '2h'] });
    expect(driven.outcome).toMatchObject({
      timers: [{ suffix: '/reminder[0]', at: NOW + 600_000 }, { at: NOW + HOUR }],
    });
    expect(driven.fire(600_000, '/reminder[0]')).toMatchObject({
      do: 'suspend',
      waiting: { message: 'Refund 5? (reminder 1)' },
    });
    expect(driven.decide('approved')).toMatchObject({ meta: { reminded: 1 } });
  });
});
