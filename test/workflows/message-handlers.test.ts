import { expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { genesis } from '../../src/engine/advance.ts';
import { type Inbound, Runner } from '../../src/engine/runner.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { type Answer, answerUpdates } from '../../workflows/run/message-handlers.ts';
import { GENESIS } from '../engine/player.ts';
import { programOf } from '../support/program.ts';

type Received = Inbound & { readonly answered?: (answer: Answer) => void };
type Update = { readonly handler: (payload: unknown) => unknown; readonly validator: (payload: unknown) => void };

const review = { stepType: 'approval', config: { message: 'Well?', form: { note: 'string' }, quorum: 2 } };
/** While it asks, a light effect is under way in a segment. */
const both = { stepType: 'parallel', nextSteps: { ask: 'review', call: 'call' } };
const call = { stepType: 'http', local: true, config: { url: 'https://a.test' } };

/** A run that asks for two decisions, and how often it has checked one against its form. */
function asking(steps: Definition['steps'] = { review }) {
  let checks = 0;
  const compiled = programOf({ name: 'Asks', slug: 'asks', steps });
  const program: Program = {
    ...compiled,
    isMarked(mark) {
      if (mark === 'formats') checks++;
      return compiled.isMarked(mark);
    },
  };
  const state = genesis(program, GENESIS);
  const runner = new Runner<Received>(program, state, { mayBeginSegment: () => true, holdsCommands: () => false });
  const take = (inbound: Received): void => {
    for (const outbound of runner.take(inbound))
      if (outbound?.type === 'answered') outbound.inbound.answered?.(outbound.answer);
  };
  const at = GENESIS.startedAt;
  take({ type: 'started', at });
  const updates = new Map<string, Update>();
  const context = globalThis as { __TEMPORAL_ACTIVATOR__?: unknown };
  context.__TEMPORAL_ACTIVATOR__ = { updateHandlers: updates, dispatchBufferedUpdates: () => undefined };
  answerUpdates({
    take: (event, as, answered) => take({ type: 'message', at: event.at, as, event, answered }),
    isFree: () => runner.hasNoSegment,
    admit: (event) => runner.admits(event),
    ignored: () => undefined,
  });
  delete context.__TEMPORAL_ACTIVATOR__;
  const { handler, validator } = updates.get('approve')!;
  return {
    state,
    /** As a worker does with an update. */
    approve(payload: object): unknown {
      validator(payload);
      return handler(payload);
    },
    endSegment(): void {
      expect(runner.hasNoSegment).toBe(false);
      const end = { id: 'both/call/call', at, startedAt: at, result: { data: null } };
      take({ type: 'segmentEnded', at, outcome: { ends: [end], isFailed: false } });
    },
    checksSince(): number {
      const counted = checks;
      checks = 0;
      return counted;
    },
  };
}

const vote = (by: string, note: unknown = 'Yes.') => ({
  by,
  via: 'api',
  data: { note },
  as: { roles: [], groups: [] },
});

it('checks a decision at its update and when it is applied, and no more', () => {
  const run = asking();
  run.checksSince();
  expect(run.approve(vote('ann'))).toMatchObject({ accepted: true, path: 'review' });
  expect(run.checksSince()).toBe(2);
  expect(() => run.approve(vote('bob', 1))).toThrow(/does not fit the form/);
  expect(run.checksSince()).toBe(1);
  run.approve(vote('bob'));
  expect(run.state.ending).toMatchObject({ status: 'completed', output: { decision: 'approved', decidedBy: 'bob' } });
});

it('checks a decision that waited for a segment when it is applied', async () => {
  const run = asking({ both, review, call });
  const answers = [run.approve(vote('ann')), run.approve(vote('ann')), run.approve(vote('bob', 1))];
  run.checksSince();
  run.endSegment();
  expect(run.checksSince()).toBe(2);
  const settled = await Promise.allSettled(answers);
  expect(settled).toMatchObject([
    { status: 'fulfilled', value: { accepted: true, path: 'both/ask/review' } },
    { status: 'rejected', reason: { type: 'already_voted' } },
    { status: 'rejected', reason: { type: 'invalid_submission' } },
  ]);
  expect(run.state.ending).toBeUndefined();
});
