import { describe, expect, it } from 'vitest';
import type { StepDefinition } from '../../src/definition/document/types.ts';
import { admit, advance } from '../../src/engine/advance.ts';
import { waitingFor } from '../../src/engine/inbound/view.ts';
import { programOf } from '../support/program.ts';
import { Player } from './player.ts';

type Steps = { [slug: string]: StepDefinition };

function started(steps: Steps, carries = false): Player {
  const program = programOf({ name: 'Asked', slug: 'asked', steps });
  const player = new Player(program, { carries });
  player.feed({ type: 'started' });
  return player;
}

const approve = (more: object = {}) => ({
  type: 'decide' as const,
  decision: 'approved' as const,
  via: 'api',
  ...more,
});
const review = (config: StepDefinition['config'] = {}, next?: string): StepDefinition => ({
  stepType: 'approval',
  config: { message: 'Well?', ...config },
  nextSteps: next === undefined ? {} : { approved: next, rejected: next },
});

/** Two open approvals of one step. */
const twice: Steps = {
  each: { stepType: 'forEach', config: { items: [1, 2], concurrency: 2 }, nextSteps: { item: 'review' } },
  review: review(),
};

describe('admit', () => {
  it('takes what fits, and says which visit', () => {
    expect(started({ review: review() }).admit(approve())).toMatchObject({ accepted: true, path: 'review' });
    expect(started(twice).admit(approve({ step: 'each[1]/review' }))).toEqual({
      accepted: true,
      path: 'each[1]/review',
    });
    expect(started(twice).admit({ type: 'pause' })).toMatchObject({ accepted: true, path: '' });
  });

  it('refuses a slug with several open visits, and names their paths', () => {
    const refused = {
      code: 'ambiguous_step',
      message: "2 visits fit; name one by its path as 'step': 'each[0]/review', 'each[1]/review'.",
      paths: ['each[0]/review', 'each[1]/review'],
    };
    expect(started(twice).admit(approve({ step: 'review' }))).toEqual(refused);
    expect(started(twice).admit(approve())).toEqual(refused);
  });

  it('refuses a step that the definition has not', () => {
    expect(started(twice).admit(approve({ step: 'reviews' }))).toEqual({
      code: 'no_such_step',
      message: "The definition has no step 'reviews'.",
    });
  });

  it('refuses what nobody waits for', () => {
    const player = started({ rest: { stepType: 'sleep', config: { duration: '1h' } } });
    expect(player.admit(approve())).toEqual({
      code: 'not_waiting',
      message: 'Nothing in this run waits for an approval.',
    });
    expect(player.admit(approve({ step: 'rest' }))).toEqual({
      code: 'not_waiting',
      message: "'rest' is open, but does not wait for an approval.",
    });
    expect(player.admit({ type: 'submit', data: 1, via: 'api' })).toMatchObject({ code: 'not_waiting' });
    expect(player.admit({ type: 'retryStep' })).toMatchObject({ code: 'not_waiting' });
    expect(player.admit({ type: 'skipTimer', step: 'rest' })).toMatchObject({ accepted: true, path: 'rest' });
  });

  it('distinguishes a step that has been decided from one that has not begun', () => {
    const player = started({ first: review({}, 'second'), second: review({}, 'third'), third: review() });
    player.feed(approve({ step: 'first' }));
    expect(player.admit(approve({ step: 'first' }))).toEqual({
      code: 'already_decided',
      message: "'first' has been decided already, or its time has passed.",
    });
    expect(player.admit(approve({ step: 'third' }))).toMatchObject({ code: 'not_waiting' });
  });

  it('refuses a second vote, a missing comment, data that does not fit, and a signal where approvers are named', () => {
    const player = started({ review: review({ approvers: ['ann', 'bob', 'cy'], quorum: 2, commentRequired: true }) });
    player.feed(approve({ by: 'ann', comments: 'Yes.' }));
    expect(player.admit(approve({ by: 'ann', comments: 'Yes again.' }))).toMatchObject({ code: 'already_voted' });
    expect(player.admit(approve({ by: 'bob' }))).toMatchObject({ code: 'invalid_submission' });
    expect(player.admit(approve({ via: 'temporal', comments: 'x' }))).toMatchObject({ code: 'needs_override' });
    expect(player.admit(approve({ by: 'bob', comments: 'Yes.' }))).toMatchObject({ accepted: true });
    const ask = started({ ask: { stepType: 'user_input', config: { form: { city: 'string' } } } });
    expect(ask.admit({ type: 'submit', data: {}, via: 'api' })).toMatchObject({ code: 'invalid_submission' });
    expect(ask.admit(approve({ step: 'ask' }))).toMatchObject({ code: 'not_waiting' });
  });

  it('refuses everything once the run has ended, or rolls back', () => {
    const player = started({ review: review() });
    player.feed({ type: 'cancel' });
    for (const asked of [approve(), { type: 'pause' as const }, { type: 'cancelStep' as const, step: 'review' }])
      expect(player.admit(asked)).toMatchObject({ code: 'closed' });
  });

  it('refuses what is no request', () => {
    expect(started(twice).admit({ type: 'message', name: 'x', payload: 1 })).toMatchObject({ code: 'invalid_signal' });
  });

  it('gives a remembered key its answer again, whatever has happened since, and takes it once', () => {
    const player = started({ first: review({}, 'second'), second: review() }, true);
    const asked = approve({ key: '17', by: 'ann' });
    expect(player.admit(asked)).toMatchObject({ accepted: true, path: 'first' });
    player.feed(asked);
    expect(player.feed(asked)).toEqual([]);
    expect(player.admit(asked)).toMatchObject({ accepted: true, path: 'first' });
    expect(Object.values(player.state.frames).map(({ visit }) => visit?.slug)).toEqual(['second']);
    player.feed(approve());
    expect(player.ended).toBe(true);
    expect(player.admit(asked)).toMatchObject({ accepted: true, path: 'first' });
  });

  it('takes one of twenty concurrent decisions, and refuses the others (E5)', () => {
    const player = started({ review: review({}, 'after'), after: { stepType: 'sleep', config: { duration: '1h' } } });
    const answers = Array.from({ length: 20 }, (_, i) => {
      const asked = approve({
        step: 'review',
        by: `person ${i}`,
        key: `${i}`,
        ...(i % 2 ? { decision: 'rejected' } : {}),
      });
      const answer = player.admit(asked);
      player.feed(asked);
      return answer;
    });
    expect(answers.filter((answer) => 'accepted' in answer)).toHaveLength(1);
    expect(answers.slice(1).every((answer) => 'code' in answer && answer.code === 'already_decided')).toBe(true);
    const { entries } = player.state.frames['']!;
    expect(entries['review']!.output.data).toMatchObject({ decision: 'approved', decidedBy: 'person 0' });
  });
});

it('refuses a decision after the timeout, also while the run is paused; a reminder is no timeout', () => {
  const player = started({ review: review({ timeout: '2h', reminders: ['1h'] }) });
  player.feed({ type: 'pause' });
  player.fire('review/reminder[0]');
  expect(player.admit(approve())).toMatchObject({ accepted: true, path: 'review' });
  player.fire('review');
  expect(player.admit(approve())).toMatchObject({ code: 'already_decided' });
  expect(player.feed(approve())).toEqual([]);
});

it('refuses a decision where the timer has fired on a clock that was behind', () => {
  const player = started({ review: review({ timeout: '2h' }) });
  player.feed({ type: 'pause' });
  player.feed({ type: 'fired', id: 'review' });
  player.at += 2 * 3_600_000;
  expect(player.admit(approve())).toMatchObject({ code: 'already_decided' });
  expect(player.feed(approve())).toEqual([]);
});

it('goes by its answer only until something else happens', () => {
  const { program, state } = started({ review: review({ approvers: ['ann', 'bob'], quorum: 'all' }) });
  const [asked, other] = [1, 2].map(() => ({ ...approve({ by: 'ann' }), at: state.now }));
  expect(admit(program, state, asked!)).toMatchObject({ accepted: true });
  for (const event of [other!, asked!]) advance(program, state, event);
  expect(waitingFor(state)).toMatchObject([{ votes: { have: 1, needed: 2 } }]);
});

describe('requests that come again', () => {
  it('change nothing that came between them: a key counts once', () => {
    const player = started({ review: review() });
    player.feed({ type: 'pause', key: 'p' });
    player.feed({ type: 'resume', key: 'r' });
    expect(player.admit({ type: 'pause', key: 'p' })).toMatchObject({ accepted: true, path: '' });
    player.feed({ type: 'pause', key: 'p' });
    expect(player.state.paused).toBe(false);
    player.feed({ type: 'pause', key: 'q' });
    player.feed({ type: 'resume', key: 'r' });
    expect(player.state.paused).toBe(true);
  });
});

describe('a call that was begun anew by retryStep', () => {
  const agent: Steps = { work: { stepType: 'agent', config: { userPrompt: 'Go.', mcpServerIds: ['s'] } } };
  const interrupt = { type: 'message', name: 'agent_message', payload: { content: 'Stop!', interrupt: true } } as const;

  it('is taken back under its new id when its step takes it back', () => {
    const player = started(agent);
    player.feed({ type: 'retryStep' });
    expect([...player.open.keys()]).toEqual(['work/turn[0]/model!2']);
    player.feed(interrupt);
    expect([...player.open.keys()]).toEqual(['work/turn[1]/model']);
    const ended = player.trace.filter(({ t }) => t === 'end');
    expect(ended).toMatchObject([{ path: 'work/turn[0]/model', status: 'cancelled' }]);
  });
});
