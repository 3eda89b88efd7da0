import { expect, it } from 'vitest';
import type { Accepted, Refusal } from '../../src/contract/run.ts';
import { admit, advance, genesis } from '../../src/engine/advance.ts';
import type { Event } from '../../src/engine/state/protocol.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { answerUpdates } from '../../workflows/run/message-handlers.ts';
import { GENESIS } from '../engine/player.ts';
import { programOf } from '../support/program.ts';

type Update = { readonly handler: (payload: unknown) => unknown; readonly validator: (payload: unknown) => void };

/** A run that asks for two decisions, and how often it has checked one against its form. */
function asking() {
  let checks = 0;
  const approval = { stepType: 'approval', config: { message: 'Well?', form: { note: 'string' }, quorum: 2 } };
  const compiled = programOf({ name: 'Asks', slug: 'asks', steps: { review: approval } });
  const program: Program = {
    ...compiled,
    isMarked(mark) {
      if (mark === 'formats') checks++;
      return compiled.isMarked(mark);
    },
  };
  const state = genesis(program, GENESIS);
  advance(program, state, { type: 'started', at: GENESIS.startedAt });
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const updates = new Map<string, Update>();
  const context = globalThis as { __TEMPORAL_ACTIVATOR__?: unknown };
  context.__TEMPORAL_ACTIVATOR__ = { updateHandlers: updates, dispatchBufferedUpdates: () => undefined };
  answerUpdates({
    take: (event: Event) => void advance(program, state, event),
    whenFree: (act) => void (isOpen ? waiting.push(act) : act()),
    isFree: () => !isOpen,
    admit: (event): Accepted | Refusal => admit(program, state, event),
    recorded: () => ({ recorded: 'vote' }) as never,
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
    openSegment(): void {
      isOpen = true;
    },
    closeSegment(): void {
      isOpen = false;
      for (const act of waiting.splice(0)) act();
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
  const run = asking();
  run.openSegment();
  const answers = [run.approve(vote('ann')), run.approve(vote('ann')), run.approve(vote('bob', 1))];
  run.checksSince();
  run.closeSegment();
  expect(run.checksSince()).toBe(2);
  const settled = await Promise.allSettled(answers);
  expect(settled).toMatchObject([
    { status: 'fulfilled', value: { accepted: true, path: 'review' } },
    { status: 'rejected', reason: { type: 'already_voted' } },
    { status: 'rejected', reason: { type: 'invalid_submission' } },
  ]);
  expect(run.state.ending).toBeUndefined();
});
