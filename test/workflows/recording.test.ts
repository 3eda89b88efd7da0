import { describe, expect, it } from 'vitest';
import {
  CALL_OVERDUE_MS,
  MAX_ERROR_LENGTH,
  MAX_RECORDED_STEPS,
  type RecordingStart,
  type RecordingView,
} from '../../src/contract/definitions/recording.ts';
import type { Json } from '../../src/json/json.ts';
import { PARSE_JSON_CODE } from '../../src/recording/document.ts';
import { type ActorSnapshot, applyUpdate, beginActor, isRefusal } from '../../workflows/actors/actor.ts';
import { type Recording, recordingActor } from '../../workflows/actors/recording.ts';

// The actor of recordings, without Temporal: calls that begin and end, what is refused, and when it expires.

const T0 = Date.parse('2026-01-01T00:00:00Z');
const IDLE_MS = 60_000;
const START: RecordingStart = {
  organizationId: 'o',
  historyLimit: 100,
  id: 'r',
  name: 'Refund',
  input: { email: 'ann@example.org' },
  idleMs: IDLE_MS,
  maxBytes: 5_000,
};

/** A recording that is spoken to; one second passes with each request. */
class Spoken {
  live: ActorSnapshot<Recording>;
  now = T0;
  #keys = 0;

  constructor(start: Partial<RecordingStart> = {}) {
    this.live = beginActor(recordingActor, { ...START, ...start }, { now: T0, workflowId: 'w', runId: 'r' });
  }

  /** The answer, or the refusal. */
  ask(update: string, request: object, key?: string): unknown {
    this.now += 1_000;
    this.#keys += 1;
    const taken = applyUpdate(
      recordingActor,
      this.live,
      update,
      { key: key ?? `k${this.#keys}`, ...request },
      this.now,
    );
    if (isRefusal(taken)) return taken;
    this.live = taken.state;
    return taken.answer;
  }

  call(input: Json = {}, tool = 'get-User', key?: string): unknown {
    return this.ask('call', { tool, server: 's', input, content: JSON.stringify([tool, input]) }, key);
  }

  tell(payload: unknown): void {
    this.now += 1_000;
    const change = recordingActor.signals?.['callEnded']?.(this.live.state, payload, this.now);
    if (change !== undefined) this.live = { ...this.live, state: change.state };
  }

  /** Lets time pass until nothing more happens before `until`. */
  waitUntil(until: number): void {
    for (;;) {
      const next = recordingActor.next?.(this.live.state, until);
      if (next !== 'act') return;
      const acted = recordingActor.act?.(this.live.state, until);
      if (acted !== undefined) this.live = { ...this.live, state: acted.state };
    }
  }

  view(): RecordingView {
    return recordingActor.queries?.['view']?.(this.live.state) as RecordingView;
  }

  input(name: string): unknown {
    return recordingActor.queries?.['callInput']?.(this.live.state, name);
  }
}

describe('a call', () => {
  it('is a step with its references, and is made with their values', () => {
    const recording = new Spoken();
    expect(recording.call({ email: '@input.email' })).toMatchObject({ name: 'get-user_1' });
    expect(recording.input('get-user_1')).toEqual({ input: { email: 'ann@example.org' } });
    recording.tell({ name: 'get-user_1', output: { id: 42 } });
    expect(recording.call({ userId: '@get-user_1.id', note: 'no. @get-user_1.id' }, 'refund')).toMatchObject({
      name: 'refund_1',
    });
    expect(recording.input('refund_1')).toEqual({ input: { userId: 42, note: 'no. 42' } });
    expect(recording.view().recorded).toMatchObject([
      { status: 'completed', output: { id: 42 }, step: { input: { email: '@input.email' } } },
      { status: 'running', step: { action: { toolName: 'refund', server: 's' }, input: { userId: '@get-user_1.id' } } },
    ]);
    expect(JSON.stringify(recording.view())).not.toContain('"request"');
  });

  it('makes data of a text that holds JSON, by code that the definition gets', () => {
    const recording = new Spoken();
    recording.call();
    recording.tell({ name: 'get-user_1', output: ' [{"id": 42}] ' });
    recording.call();
    recording.tell({ name: 'get-user_2', output: '{not JSON' });
    expect(recording.view().recorded).toMatchObject([
      { output: [{ id: 42 }], step: { action: { transformCode: PARSE_JSON_CODE } } },
      { output: '{not JSON' },
    ]);
    expect(recording.view().recorded[1]?.step['action']).not.toHaveProperty('transformCode');
  });

  it('that fails is recorded, and its report counts once', () => {
    const recording = new Spoken();
    recording.call();
    recording.tell({ name: 'get-user_1', error: { code: 'tool_error', message: 'x'.repeat(10_000) } });
    recording.tell({ name: 'get-user_1', output: 'late' });
    for (const odd of [undefined, null, 'x', { name: 'nobody' }, { name: '__proto__' }]) recording.tell(odd);
    const [step] = recording.view().recorded;
    expect(step).toMatchObject({ status: 'failed', error: { code: 'tool_error' } });
    expect(step?.error?.message.length).toBe(MAX_ERROR_LENGTH);
    expect(step).not.toHaveProperty('output');
    expect(recording.call({ a: '@get-user_1' })).toMatchObject({ refused: 'unresolved_reference' });
  });

  it('with a key that was used is the same call, also after its answer was forgotten', () => {
    const recording = new Spoken();
    const first = recording.call({ a: 1 }, 'get', 'key');
    for (let n = 0; n < 70; n++) recording.ask('change', { name: `n${n}` });
    expect(recording.live.answers.some(({ key }) => key === 'key')).toBe(false);
    expect(recording.call({ a: 1 }, 'get', 'key')).toEqual(first);
    recording.live = { ...recording.live, answers: [] };
    expect(recording.call({ a: 2 }, 'get', 'key')).toMatchObject({ refused: 'idempotency_conflict' });
    expect(recording.view().steps).toBe(1);
  });

  it.each<[string, Json, string, string]>([
    ['a reference to nobody', { a: { b: '@nobody.id' } }, 'unknown_reference', '/input/a/b'],
    ['a member that is missing', { a: '@input.nobody' }, 'unresolved_reference', '/input/a'],
  ])('is refused with %s, at its place', (_what, input, code, pointer) => {
    const recording = new Spoken();
    expect(recording.call(input)).toMatchObject({ refused: code, details: { problems: [{ code, pointer }] } });
    expect(recording.view().steps).toBe(0);
  });
});

describe('the bounds of a recording', () => {
  it('are the number of steps, and the bytes of all together', () => {
    const many = new Spoken({ maxBytes: 1_000_000 });
    for (let n = 0; n < MAX_RECORDED_STEPS; n++) many.call();
    expect(many.call()).toMatchObject({ refused: 'too_many' });
    const small = new Spoken();
    expect(small.call({ text: 'x'.repeat(6_000) })).toMatchObject({ refused: 'too_large' });
    expect(small.ask('change', { input: { text: 'x'.repeat(6_000) } })).toMatchObject({ refused: 'too_large' });
    expect(small.call({ text: 'x'.repeat(200_001) })).toMatchObject({ refused: 'payload_too_large' });
    expect(small.view().steps).toBe(0);
  });

  it('make a failure of a call whose result does not fit, and room comes back with a step that is removed', () => {
    const recording = new Spoken();
    recording.call();
    recording.call();
    recording.tell({ name: 'get-user_1', output: 'x'.repeat(3_000) });
    recording.tell({ name: 'get-user_2', output: 'x'.repeat(3_000) });
    expect(recording.view().recorded.map(({ status }) => status)).toEqual(['completed', 'failed']);
    expect(recording.ask('drop', { name: 'get-user_1' })).toEqual({ name: 'get-user_1' });
    expect(recording.ask('preset', { name: 'get-user_2', output: 'x'.repeat(3_000) })).toEqual({ name: 'get-user_2' });
    expect(recording.view().recorded).toMatchObject([{ name: 'get-user_2', status: 'completed', isPreset: true }]);
    // A name is never used twice.
    expect(recording.call()).toMatchObject({ name: 'get-user_3' });
  });

  it('leave large outputs out of the view, which shows their size', () => {
    const recording = new Spoken({ maxBytes: 2_000_000 });
    for (const n of [1, 2]) {
      recording.call();
      recording.tell({ name: `get-user_${n}`, output: 'x'.repeat(300_000) });
    }
    const [first, second] = recording.view().recorded;
    expect(first).toMatchObject({ outputBytes: 300_002 });
    expect(first).not.toHaveProperty('output');
    expect(second?.output).toHaveLength(300_000);
    const whole = recordingActor.queries?.['step']?.(recording.live.state, 'get-user_1');
    expect(whole).toMatchObject({ output: expect.stringMatching(/^x+$/) });
    expect(recordingActor.queries?.['step']?.(recording.live.state, 'nobody')).toBeNull();
  });
});

describe('steps by hand', () => {
  const code = { action: { code: 'export default (input) => input;' } };

  it('have names of their own, and refer only to what is there', () => {
    const recording = new Spoken();
    expect(recording.ask('append', { step: code })).toEqual({ name: 'code_1' });
    expect(recording.ask('append', { step: code, name: 'code_1' })).toMatchObject({ refused: 'step_exists' });
    for (const name of ['input', 'a b', '1']) {
      expect(recording.ask('append', { step: code, name })).toMatchObject({ refused: 'invalid_name' });
    }
    const wrong = { ...code, input: { a: '@nobody.x' } };
    expect(recording.ask('append', { step: wrong })).toMatchObject({ refused: 'unknown_reference' });
    const right = { ...code, input: { a: '@code_1.x' } };
    expect(recording.ask('append', { step: right, name: 'uses', output: 7 })).toEqual({ name: 'uses' });
    expect(recording.view().recorded.map(({ status }) => status)).toEqual(['open', 'completed']);
    expect(recording.ask('drop', { name: 'code_1' })).toMatchObject({ refused: 'step_in_use' });
    expect(recording.ask('drop', { name: 'nobody' })).toMatchObject({ refused: 'no_such_step' });
  });

  it('wait for their call', () => {
    const recording = new Spoken();
    recording.call();
    for (const update of ['preset', 'drop'])
      expect(recording.ask(update, { name: 'get-user_1', output: 1 })).toMatchObject({ refused: 'step_running' });
  });
});

describe('the end of a recording', () => {
  it('comes when it was idle, and not while a call is under way', () => {
    const recording = new Spoken();
    recording.waitUntil(T0 + IDLE_MS - 1);
    expect(recording.view().ended).toBeUndefined();
    recording.call();
    recording.waitUntil(recording.now + IDLE_MS + 1);
    expect(recording.view()).toMatchObject({ recorded: [{ status: 'running' }] });
    // A call that never reports counts as failed, and then the recording is idle.
    const overdue = recording.now + CALL_OVERDUE_MS;
    recording.waitUntil(overdue);
    expect(recording.view()).toMatchObject({ recorded: [{ status: 'failed', error: { code: 'no_answer' } }] });
    recording.waitUntil(overdue + IDLE_MS);
    expect(recording.view().ended).toBe('expired');
    expect(recordingActor.next?.(recording.live.state, overdue + IDLE_MS)).toBe('end');
    for (const update of ['append', 'preset', 'change', 'drop', 'confirm', 'saved', 'end'])
      expect(recording.ask(update, { name: 'n', step: {}, items: [] })).toMatchObject({ refused: 'gone' });
    expect(recording.call()).toMatchObject({ refused: 'gone' });
  });

  it('comes when it is deleted', () => {
    const recording = new Spoken();
    recording.call();
    expect(recording.ask('end', {})).toEqual({ ended: 'deleted' });
    expect(recordingActor.next?.(recording.live.state, recording.now)).toBe('end');
    recording.tell({ name: 'get-user_1', output: 1 });
    expect(recording.view().ended).toBe('deleted');
  });
});
