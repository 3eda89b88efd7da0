// Decisions of approvals, as lists find them (src/engine/walk/step-context.ts).
import { describe, expect, it } from 'vitest';
import { ATTRIBUTES, DECIDED_MORE, MAX_ATTRIBUTE_VALUES, withDecisions } from '../../src/contract/search-attributes.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { forkState } from '../../src/engine/resume/fork.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { programOf } from '../support/program.ts';
import { Player } from './player.ts';

const approval = (config: JsonObject = {}) => ({ stepType: 'approval', config: { message: 'Go on?', ...config } });

function player(steps: Definition['steps'], has = true, carries = false): Player {
  const program = programOf({ name: 'Decided', slug: 'decided', steps });
  const played = new Player(has ? program : { ...program, isMarked: () => false }, { carries });
  played.feed({ type: 'started' });
  return played;
}

const decide = (run: Player, step: string, decision: 'approved' | 'rejected', by?: string) =>
  run.feed({
    type: 'decide',
    step,
    decision,
    via: 'api',
    ...(by === undefined ? {} : { by, as: { roles: [], groups: [] } }),
  });

/** An approval about each of so many orders. */
const orders = (count: number): Definition['steps'] => ({
  each: {
    stepType: 'forEach',
    config: { items: Array.from({ length: count }, (_, n) => n), concurrency: count },
    nextSteps: { item: 'ask' },
  },
  ask: approval({ resourceType: 'order', resourceId: '{{ item }}' }),
});

describe('a decision', () => {
  const beside: Definition['steps'] = {
    both: { stepType: 'parallel', nextSteps: { work: 'get', ask: 'ask', sure: 'sure' } },
    get: { stepType: 'http', config: { url: 'https://example.com' } },
    ask: approval({ resourceType: 'order', resourceId: 'A/7=8' }),
    sure: approval({ quorum: 2 }),
  };

  it.each([false, true])('is shown also while other branches run, continued as new or not (%s)', (carries) => {
    const run = player(beside, true, carries);
    expect(decide(run, 'sure', 'approved', 'cat').filter(({ type }) => type === 'visible')).toEqual([]);
    expect(run.state.decided).toBeUndefined();
    const commands = decide(run, 'ask', 'approved', 'ann=b');
    expect(commands.filter(({ type }) => type === 'visible')).toMatchObject([{ status: 'running' }]);
    expect(run.state.decided).toEqual(['decided:approved', 'approval:ann%3Db', 'resource:order/A/7%3D8']);
    decide(run, 'sure', 'approved', 'dan');
    expect(run.state.decided?.slice(3)).toEqual(['approval:cat', 'approval:dan']);
    // A fork repeats the answers, not the decisions.
    const { program, state } = run;
    const start = { executionId: 'run.default.fork.1', at: 2_000, limiters: [] };
    expect(forkState(program, state, [{ do: 'visit', frame: '', slug: 'both' }], {}, start)).not.toHaveProperty(
      'decided',
    );
  });

  it('is in the trace, with who voted', () => {
    const run = player(beside);
    decide(run, 'sure', 'approved', 'cat');
    decide(run, 'sure', 'approved', 'dan');
    expect(run.trace.filter(({ t }) => t === 'decided')).toMatchObject([
      {
        path: 'both/sure/sure',
        decision: { status: 'approved', by: 'dan', voters: ['cat', 'dan'], message: 'Go on?' },
      },
    ]);
  });

  it('that a timeout makes has no person; a timeout that decides nothing is none', () => {
    const run = player({
      both: { stepType: 'parallel', nextSteps: { a: 'late', b: 'never' } },
      late: approval({ timeout: '1h', onTimeout: 'rejected' }),
      never: { ...approval({ timeout: '1h' }), nextSteps: { timeout: 'on' } },
      on: { stepType: 'removed' },
    });
    run.fire();
    run.fire();
    expect(run.state.ending?.status).toBe('completed');
    expect(run.state.decided).toEqual(['decided:rejected']);
  });

  it('changes nothing in a task of an earlier worker', () => {
    const run = player(beside, false);
    expect(decide(run, 'ask', 'approved', 'ann').filter(({ type }) => type === 'visible')).toEqual([]);
    expect(run.state).not.toHaveProperty('decided');
  });
});

describe('the searchable state of a run with many decisions', () => {
  it('says that not all are in it, and has every verdict', () => {
    const count = 120;
    const run = player(orders(count));
    for (let n = 0; n < count; n++) decide(run, `each[${n}]/ask`, n === count - 1 ? 'rejected' : 'approved', 'ann');
    const { decided = [] } = run.state;
    expect(decided.length).toBeLessThanOrEqual(MAX_ATTRIBUTE_VALUES + 2);
    const listed = withDecisions(['tier=gold'], decided);
    expect(listed).toHaveLength(MAX_ATTRIBUTE_VALUES);
    for (const value of ['decided:approved', 'decided:rejected', DECIDED_MORE, 'tier=gold', 'approval:ann'])
      expect(listed, ATTRIBUTES.state).toContain(value);
  });

  it('leaves decisions out before its own values, and says so', () => {
    const own = Array.from({ length: MAX_ATTRIBUTE_VALUES - 3 }, (_, n) => `k${n}=1`);
    expect(withDecisions(own, ['decided:approved', 'approval:ann', 'resource:order/1'])).toEqual([
      'decided:approved',
      ...own,
      'approval:ann',
      'resource:order/1',
    ]);
    expect(withDecisions([...own, 'one=more'], ['decided:approved', 'approval:ann', 'resource:order/1'])).toEqual([
      'decided:approved',
      DECIDED_MORE,
      ...own,
      'one=more',
    ]);
  });
});
