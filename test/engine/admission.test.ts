// Limits as the core knows them (admission.ts, definition-limits.ts): which limiters a run is under, and how it waits
// before it walks.

import { describe, expect, it } from 'vitest';
import { type AppliedLimit, PRESTART_LEASE_MS, type SlotAnswer } from '../../src/contract/limits/limiter.ts';
import { payloadKey } from '../../src/definition/document/payload-key.ts';
import type { Definition, WorkflowConfig } from '../../src/definition/document/types.ts';
import { advance, genesis } from '../../src/engine/advance.ts';
import { wantedSlots } from '../../src/engine/inbound/admission.ts';
import { statusOf, waitingFor } from '../../src/engine/inbound/view.ts';
import { resumedState, withRenewedSlots } from '../../src/engine/resume/rewind.ts';
import { definitionLimits } from '../../src/engine/state/definition-limits.ts';
import type { Command, Event } from '../../src/engine/state/protocol.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import { genesisOf } from '../../src/engine/state/start.ts';
import type { Json } from '../../src/json/json.ts';
import { programOf } from '../support/program.ts';

const T0 = 1_700_000_000_000;

const definition = (config: WorkflowConfig = {}, steps?: Definition['steps']): Definition => ({
  name: 'Limited',
  slug: 'limited',
  start: 'wait',
  config,
  steps: steps ?? { wait: { stepType: 'approval', config: { message: 'Go on?' } } },
});
const gate = (name: string, more: Partial<AppliedLimit> = {}): AppliedLimit => ({
  gate: name,
  scope: 'workflow',
  limit: 1,
  overflow: 'queue',
  group: '',
  ...more,
});

/** A run of that definition under those gates, carried over after every event. */
function run(gates: readonly AppliedLimit[], of: Definition = definition()) {
  const program = programOf(of);
  let state = genesis(program, genesisOf({ definition: of, gates }, 'run.default.limited.x', T0));
  let now = T0;
  return {
    send: (event: { [key: string]: unknown }, afterMs = 0): Command[] => {
      now += afterMs;
      const commands = advance(program, state, { at: now, ...event } as unknown as Event);
      if (state.ending === undefined) state = restore(JSON.parse(JSON.stringify(serialize(program, state))) as Json);
      return commands;
    },
    state: () => state,
    program,
    asked: (commands: readonly Command[]) =>
      commands.flatMap((command) => (command.type === 'slots' ? [command.gates.map(({ gate: name }) => name)] : [])),
  };
}

const answers = (...given: SlotAnswer[]) => ({ type: 'slots', answers: given });
const granted = (name: string): SlotAnswer => ({ gate: name, as: 'granted' });
const since = new Date(T0).toISOString();
const waits = (name: string): SlotAnswer => ({ gate: name, as: 'waiting', since });

describe('a run before its gates', () => {
  it('walks immediately where it has none, or holds all leases', () => {
    for (const gates of [[], [gate('a', { taken: true })]]) {
      const { send, state } = run(gates);
      send({ type: 'started' });
      expect(statusOf(state())).toBe('waiting');
    }
  });

  it('is pending until every limiter has granted a slot, and requests the next slots after a wait', () => {
    const { send, state, asked } = run([gate('a'), gate('b'), gate('c')]);
    expect(asked(send({ type: 'started' }))).toEqual([['a', 'b', 'c']]);
    expect(statusOf(state())).toBe('pending');
    expect(asked(send(answers(granted('a'), waits('b'))))).toEqual([]);
    expect(waitingFor(state())).toEqual([{ path: '', stepSlug: '', kind: 'slot', since, name: 'workflow', gate: 'b' }]);
    expect(asked(send({ type: 'granted', gate: 'c' }))).toEqual([]);
    expect(asked(send({ type: 'granted', gate: 'b' }))).toEqual([['c']]);
    send(answers(granted('c')));
    expect(statusOf(state())).toBe('waiting');
    expect(waitingFor(state())).toMatchObject([{ kind: 'approval' }]);
  });

  it('is let pass whichever comes first, the answer that it waits or the signal that it need not', () => {
    const { send, state, asked } = run([gate('a'), gate('b')]);
    send({ type: 'started' });
    expect(asked(send({ type: 'granted', gate: 'a' }))).toEqual([]);
    // What was asked had been answered before the signal: the next gate is asked now.
    expect(asked(send(answers(waits('a'))))).toEqual([['b']]);
    send(answers(granted('b')));
    expect(statusOf(state())).toBe('waiting');
  });

  it('requests slots from limiters that refuse before those that make it wait', () => {
    const { send, asked } = run([gate('queue'), gate('held', { taken: true }), gate('strict', { overflow: 'reject' })]);
    expect(asked(send({ type: 'started' }))).toEqual([['strict', 'queue']]);
  });

  it('requests a slot again whose lease was taken too long before it started', () => {
    const leased = (takenAt: number) => gate('held', { overflow: 'reject', taken: true, takenAt });
    const soon = run([leased(T0 - PRESTART_LEASE_MS), gate('queue')]);
    expect(soon.asked(soon.send({ type: 'started' }))).toEqual([['queue']]);
    const late = run([leased(T0 - PRESTART_LEASE_MS - 1), gate('queue')]);
    expect(late.asked(late.send({ type: 'started' }))).toEqual([['held', 'queue']]);
    late.send(answers({ gate: 'held', as: 'refused', code: 'limit_reached', message: 'Full.' }));
    expect(late.state().ending).toMatchObject({ status: 'failed', error: { code: 'limit_reached' } });
  });

  it('requests a slot again where it is retried, and its new execution starts too long after the lease', () => {
    const at = T0 + 60_000;
    const gates = [gate('held', { overflow: 'reject', taken: true, takenAt: at })];
    const of = definition({ timeout: '1h' });
    const program = programOf(of);
    const { send, state } = run([], of);
    send({ type: 'started' });
    const resumed = () =>
      restore(serialize(program, resumedState(program, state(), { work: [], at, limiters: gates })) as Json);
    expect(wantedSlots(withRenewedSlots(program, resumed(), at + PRESTART_LEASE_MS))).toEqual([]);
    const late = withRenewedSlots(program, resumed(), at + PRESTART_LEASE_MS + 1);
    expect(wantedSlots(late)).toEqual(gates);
    expect(late).toMatchObject({
      sentCount: 0,
      backlog: Object.keys(late.openCommands),
      commandCounts: { timers: 0, children: 0 },
    });
    advance(program, late, { type: 'continue', at: at + 30_000 });
    const commands = advance(program, late, { type: 'slots', at: at + 30_000, answers: [granted('held')] });
    expect(commands).toContainEqual(expect.objectContaining({ type: 'timer', id: '$deadline' }));
    expect(statusOf(late)).toBe('waiting');
  });

  it('counts the timeout of a retry from its slots too', () => {
    const of = definition({ timeout: '1h' });
    const { send, state, program } = run([], of);
    send({ type: 'started' });
    const late = resumedState(program, state(), { work: [], at: T0, limiters: [gate('a')] });
    advance(program, late, { type: 'continue', at: T0 });
    const commands = advance(program, late, { type: 'slots', at: T0 + 7_200_000, answers: [granted('a')] });
    expect(commands).toContainEqual({ type: 'timer', id: '$deadline', at: T0 + 7_200_000 + 3_600_000 });
  });

  it('fails where it is refused, and is cancelled where it is dropped', () => {
    const refused = run([gate('a')]);
    refused.send({ type: 'started' });
    refused.send(answers({ gate: 'a', as: 'refused', code: 'limit_reached', message: 'Full.' }));
    expect(refused.state().ending).toMatchObject({ status: 'failed', error: { code: 'limit_reached' } });
    const dropped = run([gate('a')]);
    dropped.send({ type: 'started' });
    dropped.send(answers({ gate: 'a', as: 'dropped' }));
    expect(dropped.state().ending).toMatchObject({ status: 'cancelled' });
  });

  it('keeps messages, and can be cancelled and aborted', () => {
    const waiting = run([gate('a')]);
    waiting.send({ type: 'started' });
    waiting.send({ type: 'message', name: 'hello', payload: 1 });
    expect(waiting.state().inbox).toHaveLength(1);
    waiting.send({ type: 'cancel' });
    expect(statusOf(waiting.state())).toBe('cancelled');
    const aborted = run([gate('a')]);
    aborted.send({ type: 'started' });
    expect(aborted.send({ type: 'abort' })).toMatchObject([{ type: 'fail', error: { code: 'run_aborted' } }, {}]);
    expect(statusOf(aborted.state())).toBe('aborted');
  });

  it('begins its timeout when it has its slots', () => {
    const { send } = run([gate('a')], definition({ timeout: '1h' }));
    send({ type: 'started' });
    send(answers(waits('a')), 10);
    const commands = send({ type: 'granted', gate: 'a' }, 7_200_000);
    expect(commands).toContainEqual({ type: 'timer', id: '$deadline', at: T0 + 10 + 7_200_000 + 3_600_000 });
  });
});

describe('a run that is aborted', () => {
  const http = { stepType: 'http', config: { url: 'https://a.example' } };
  const undoable = definition(
    {},
    {
      wait: { ...http, rollback: http, nextSteps: { success: 'ask' } },
      ask: { stepType: 'approval', config: { message: '?' } },
    },
  );

  it('undoes what it has done also where it is retried, and still waits for a slot', () => {
    const { send, state, program } = run([], undoable);
    send({ type: 'started' });
    send({ type: 'completed', id: 'wait', result: { data: 1 } });
    const retried = resumedState(program, state(), { work: [], at: T0, limiters: [gate('a')] });
    advance(program, retried, { type: 'continue', at: T0 });
    advance(program, retried, { type: 'slots', at: T0, answers: [waits('a')] });
    expect(statusOf(retried)).toBe('pending');
    const commands = advance(program, retried, { type: 'abort', at: T0 });
    expect(statusOf(retried)).toBe('rolling_back');
    expect(commands.flatMap((command) => ('id' in command ? [command.id] : []))).toEqual(['wait/rollback']);
  });

  it('undoes what it has done, and then is aborted', () => {
    const { send, state } = run([], undoable);
    send({ type: 'started' });
    send({ type: 'completed', id: 'wait', result: { data: 1 } });
    expect(send({ type: 'abort', reason: 'enough' })).toMatchObject([{ type: 'run', id: 'wait/rollback' }, {}]);
    expect(statusOf(state())).toBe('rolling_back');
    // A rollback is not cancellable.
    send({ type: 'cancel' });
    send({ type: 'completed', id: 'wait/rollback', result: { data: 1 } });
    expect(state().ending).toEqual({
      status: 'aborted',
      error: { code: 'run_aborted', message: 'enough', retryable: false },
    });
  });
});

describe('the gates of a definition', () => {
  const gates = (config: WorkflowConfig, input: Json = {}, organizationId = 'default') =>
    definitionLimits({ organizationId, definition: definition(config), input });

  it('count runs of one key together, within the organization', () => {
    const concurrency = { limit: 2, key: '{{ input.customer }}' };
    const [a, b, c, d] = [
      gates({ concurrency }, { customer: 'a' }),
      gates({ concurrency }, { customer: 'a', more: 1 }),
      gates({ concurrency }, { customer: 'b' }),
      gates({ concurrency }, { customer: 'a' }, 'other'),
    ];
    expect(a).toEqual(b);
    expect(new Set([a, c, d].map(([one]) => one?.gate)).size).toBe(3);
    expect(a).toMatchObject([{ scope: 'workflow', limit: 2, overflow: 'queue' }]);
    expect(gates({})).toEqual([]);
  });

  it('count runs together whose key cannot be read', () => {
    const concurrency = { limit: 1, key: 'c-{{ input.customer }}' };
    expect(gates({ concurrency }, {})).toEqual(gates({ concurrency }, { other: 1 }));
    expect(gates({ concurrency }, {})).toHaveLength(1);
  });

  it('let the newest run of a key go in mode restart, and none where a payload has no key', () => {
    const config: WorkflowConfig = { mode: 'restart', debounce: { key: 'customer.id', seconds: 0 } };
    expect(gates(config, { customer: { id: 7 } })).toMatchObject([
      { limit: 1, overflow: 'cancel-oldest', evict: 'abort' },
    ]);
    expect(gates(config, { 'customer.id': 7 })).toEqual(gates(config, { customer: { id: 7 } }));
    expect(gates(config, {})).toEqual([]);
    expect(gates({ mode: 'restart' }, {})).toHaveLength(1);
  });
});

describe('the key of a payload', () => {
  it.each([
    ['a.b', { a: { b: 1 } }, '1'],
    ['a.b', { 'a.b': 'flat' }, 'flat'],
    ['a.b.c', { a: { x: 1 }, 'a.b': { c: 'in a flat one' } }, 'in a flat one'],
    ['a.b', { a: { b: null }, 'a.b': 'beside nothing' }, 'beside nothing'],
    ['items.0.id', { items: [{ id: 'x' }] }, 'x'],
    ['a', { a: { z: 1, b: 2 } }, '{"b":2,"z":1}'],
    ['a', { a: null }, undefined],
    ['constructor', {}, undefined],
    ['{{ input.a }}-{{ input.b }}', { a: 1, b: 2 }, '1-2'],
  ] as const)('%s', (key, payload, expected) => {
    expect(payloadKey(key, payload as unknown as Json)).toBe(expected);
  });
});
