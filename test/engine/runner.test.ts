import { describe, expect, it } from 'vitest';
import { genesis } from '../../src/engine/advance.ts';
import { type Inbound, type Outbound, Runner, type RunnerPolicy } from '../../src/engine/runner.ts';
import { simulate } from '../../src/engine/simulate.ts';
import type { Event } from '../../src/engine/state/protocol.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import type { Json } from '../../src/json/json.ts';
import { programOf } from '../support/program.ts';
import { GENESIS } from './player.ts';

const call = { stepType: 'http', local: true, config: { url: 'https://a.test' } };
const both = { stepType: 'parallel', nextSteps: { ask: 'review', call: 'call' } };
const review = { stepType: 'approval', config: { message: 'Well?' } };
const at = GENESIS.startedAt;

/** A run of these steps, with its outbounds and the events that its core applied, in order. */
function running(steps: { [slug: string]: object }, policy: Partial<RunnerPolicy> = {}) {
  const program = programOf({ name: 'P', slug: 'p', steps: steps as never });
  const state = genesis(program, GENESIS);
  const events: string[] = [];
  const runner = new Runner(
    program,
    state,
    { mayBeginSegment: () => true, holdsCommands: () => false, ...policy },
    {
      beforeEvent(event) {
        events.push('id' in event && event.id !== undefined ? `${event.type} ${event.id}` : event.type);
        return event;
      },
    },
  );
  const take = (inbound: Inbound): string[] => [...runner.take(inbound)].flatMap((one) => describeOutbound(one));
  return { runner, program, state, events, take, begun: take({ type: 'started', at }) };
}

function describeOutbound(outbound: Outbound | undefined): string[] {
  if (outbound === undefined || outbound.type === 'visible') return [];
  if (outbound.type === 'segment') return [`segment ${outbound.runs.map(({ id }) => id).join(' ')}`];
  if (outbound.type === 'attempt') return [`attempt ${outbound.earlierAttempts + 1} of ${outbound.command.id}`];
  if (outbound.type === 'answered') return ['accepted' in outbound.answer ? 'accepted' : outbound.answer.code];
  return ['id' in outbound ? `${outbound.type} ${outbound.id}` : outbound.type];
}

const decide: Event = { type: 'decide', decision: 'approved', at } as never;
const ended = (id: string) => ({ id, at, startedAt: at, result: { data: null } });
const refused = { code: 'http_status', message: 'It answered 500.', retryable: true };

describe('while a segment is open', () => {
  it('inbounds wait for its list, and are answered in order', () => {
    const { take, events, begun } = running({ both, review, call });
    expect(begun).toEqual(['segment both/call/call']);
    expect(take({ type: 'message', as: 'update', at, event: decide })).toEqual([]);
    expect(take({ type: 'message', as: 'update', at, event: decide })).toEqual([]);
    expect(events).toEqual(['started']);
    const outcome = { ends: [ended('both/call/call')], isFailed: false };
    expect(take({ type: 'segmentEnded', at, outcome })).toEqual(['complete', 'accepted', 'closed']);
    expect(events).toEqual(['started', 'completed both/call/call', 'decide']);
  });

  it('a cancellation ends it early, and is applied after it', () => {
    const { take, events } = running({ both, review, call });
    expect(take({ type: 'cancelRequested', at })).toEqual(['endSegmentEarly']);
    expect(take({ type: 'segmentEnded', at, outcome: { ends: [], isFailed: false } })).toEqual(['cancelled']);
    expect(events).toEqual(['started', 'cancel']);
  });

  it('an effect that failed continues with its second attempt, and the others as separate activities', () => {
    const other = { ...call, nextSteps: {} };
    const { take, runner } = running({ both: { ...both, nextSteps: { a: 'call', b: 'other' } }, call, other });
    const again = { ...ended('both/a/call'), result: undefined, error: refused, again: 'retry' };
    const { result: _, ...failed } = again;
    const outcome = { ends: [failed as never], isFailed: false };
    expect(take({ type: 'segmentEnded', at, outcome })).toEqual(['attempt 2 of both/a/call', 'run both/b/other']);
    expect(runner.earlierAttempts('both/a/call')).toBe(1);
    expect(take({ type: 'completed', at, id: 'both/a/call', result: { data: 1 } })).toEqual([]);
    expect(runner.earlierAttempts('both/a/call')).toBe(0);
  });
});

it('an attempt as a local activity is followed by another one, or is the end', () => {
  const run = running({ call }, { mayBeginSegment: () => false });
  expect(run.begun).toEqual(['run call']);
  expect(run.take({ type: 'attemptFailed', at, id: 'call', error: refused })).toEqual(['attempt 2 of call']);
  const final = running({ call }, { mayBeginSegment: () => false });
  const error = { ...refused, retryable: false };
  expect(final.take({ type: 'attemptFailed', at, id: 'call', error })).toEqual(['fail']);
});

it('new commands that have to wait are sent by the next execution, or before a cancellation', () => {
  const held = running({ call }, { mayBeginSegment: () => false, holdsCommands: () => true });
  expect(held.begun).toEqual([]);
  expect(held.runner.hasHeldCommands).toBe(true);
  const carried = restore(JSON.parse(JSON.stringify(serialize(held.program, held.state))) as Json);
  const next = new Runner(held.program, carried, { mayBeginSegment: () => false, holdsCommands: () => false });
  expect([...next.take({ type: 'carried', at })].flatMap((one) => describeOutbound(one))).toEqual(['run call']);
  expect(held.take({ type: 'cancelRequested', at })).toEqual(['run call', 'cancel call', 'cancelled']);
});

it('translates its own activities: a yield continues the walk, and answers of limiters are applied one by one', () => {
  const { take, events } = running({ review });
  take({ type: 'completed', at, id: '$yield', result: null });
  take({ type: 'failed', at, id: '$yield', error: refused });
  take({ type: 'completed', at, id: '$children', result: { data: { ended: [{ id: 'x', output: 1 }, { id: 7 }] } } });
  take({ type: 'failed', at, id: '$children', error: refused });
  take({ type: 'completed', at, id: '$slots', result: 'nonsense' });
  expect(events).toEqual(['started', 'continue', 'continue', 'childDone x']);
});

it('applies nothing more after the core has failed, and still answers', () => {
  const { runner, state, take } = running({ review });
  Object.defineProperty(state, 'work', {
    get: () => {
      throw new Error('A bug.');
    },
  });
  expect(take({ type: 'completed', at, id: '$yield', result: null })).toEqual(['broken']);
  expect(take({ type: 'completed', at, id: '$yield', result: null })).toEqual([]);
  expect(take({ type: 'message', as: 'update', at, event: { type: 'pause', at } })).toEqual(['accepted']);
  expect(runner.hasNoSegment).toBe(true);
});

it('a simulated segment that is hurried twice at the same moment ends once', () => {
  const cancel = { afterMs: 5, signal: 'cancel' };
  const run = simulate(programOf({ name: 'P', slug: 'p', steps: { call } as never }), {
    genesis: GENESIS,
    effect: () => ({ result: { data: null }, afterMs: 100 }),
    signals: [cancel, cancel],
    segments: true,
  });
  expect([run.segments, run.status, run.state.now - at]).toEqual([1, 'cancelled', 5]);
});
