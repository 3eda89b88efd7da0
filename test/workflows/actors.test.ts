import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Actor,
  type ActorSnapshot,
  applyUpdate,
  beginActor,
  type CarryingStart,
  continueAsNewStart,
  isRefusal,
} from '../../workflows/actors/actor.ts';
import { debounceActor } from '../../workflows/actors/debounce.ts';
import { definitionActor } from '../../workflows/actors/definition.ts';
import { hookActor } from '../../workflows/actors/hook.ts';
import { inboxActor } from '../../workflows/actors/inbox.ts';
import { limiterActor } from '../../workflows/actors/limiter.ts';
import { limiterPoolActor } from '../../workflows/actors/limiter-pool.ts';
import { organizationActor } from '../../workflows/actors/organization.ts';
import { recordingActor } from '../../workflows/actors/recording.ts';
import { syncActor } from '../../workflows/actors/sync.ts';
import { triggerActor } from '../../workflows/actors/trigger.ts';

// Every actor: the order of requests decides, a repeated request changes nothing, a refused one neither, and
// continue-as-new at any point loses nothing.

const T0 = Date.parse('2026-01-01T00:00:00Z');
const BIRTH = { now: T0, workflowId: 'actor', runId: 'first' };
const START = { organizationId: 'o', historyLimit: 100 };

/** What comes to an actor: an update or a signal with its argument, or a timer that fires. */
interface Step {
  readonly update?: string;
  readonly signal?: string;
  readonly request?: object;
}

type AnyActor = Actor<CarryingStart, unknown>;

interface Subject {
  readonly actor: AnyActor;
  readonly start: CarryingStart;
  readonly step: fc.Arbitrary<Step>;
}

const subject = <Start extends CarryingStart, State>(
  actor: Actor<Start, State>,
  start: Start,
  ...steps: fc.Arbitrary<Step>[]
): Subject => ({ actor: actor as unknown as AnyActor, start, step: fc.oneof(...steps) });

const update = (name: string, request: { readonly [member: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<Step> =>
  fc.record({ update: fc.constant(name), request: fc.record(request) });
const signal = (name: string, payload: { readonly [member: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<Step> =>
  fc.record({ signal: fc.constant(name), request: fc.record(payload) });
const timer = fc.constant<Step>({});

const name = fc.constantFrom('a', 'b', 'c');
const small = fc.nat(6);
const workflow = fc.constantFrom('w', 'v');
const spec = fc.record({ name, type: fc.constantFrom('webhook', 'event'), enabled: fc.boolean() });
const hash = fc.constantFrom('h1', 'h2', 'h3');
const id = fc.constantFrom('p1', 'p2', 'p3', 'p4');
const role = fc.constantFrom('admin', 'viewer');

const SUBJECTS: { readonly [actor: string]: Subject } = {
  debounce: subject(
    debounceActor,
    START,
    signal('hold', { id: fc.option(name, { nil: undefined }), due: small, input: small }),
    timer,
  ),
  definition: subject(
    definitionActor,
    { ...START, slug: 'w', proposalMs: 5_000 },
    update('put', {
      hash,
      name,
      enabled: fc.boolean(),
      tags: fc.array(name),
      hooks: fc.array(fc.record({ path: name, trigger: name })),
      triggers: fc.array(name),
      source: fc.constant('update'),
      proposalId: fc.option(id, { nil: undefined }),
      ifMatch: fc.option(hash, { nil: undefined }),
    }),
    update('put', { hash, name, enabled: fc.boolean(), tags: fc.constant([]), hooks: fc.constant([]) }),
    update('remove', {}),
    update('propose', { id, baseHash: hash, hash }),
    update('review', { id, decision: fc.constantFrom('approve', 'reject'), ownToo: fc.boolean() }),
    update('failProposal', { id, error: name }),
    update('recordVersions', { hashes: fc.array(hash) }),
    timer,
  ),
  hook: subject(
    hookActor,
    { ...START, path: 'p' },
    update('claim', { workflow, trigger: name }),
    update('configure', { workflow, trigger: name, revision: small, config: fc.constant({ enabled: true }) }),
    update('free', { workflow, revision: small }),
  ),
  inbox: subject(
    inboxActor,
    START,
    update('deliver', { message: fc.record({ id, to: fc.array(name), text: fc.string({ maxLength: 20 }) }) }),
    update('remove', { id }),
  ),
  lender: subject(
    limiterPoolActor,
    START,
    update('borrow', { shard: id, seq: small, limit: fc.nat(20), keeps: small, waits: small, spare: small }),
    timer,
  ),
  shard: subject(
    limiterActor,
    { ...START, scope: 'global', lender: 'l' },
    update('take', { run: id, limit: fc.constantFrom(5, 6), overflow: fc.constant('queue'), group: name }),
    signal('release', { run: id, unstarted: fc.constantFrom(undefined, true) }),
    signal('recalled', {}),
    signal('lendable', {}),
  ),
  limiter: subject(
    limiterActor,
    { ...START, scope: 'workflow' },
    update('take', {
      run: id,
      limit: fc.constantFrom(1, 2),
      overflow: fc.constantFrom('queue', 'reject', 'cancel-oldest'),
      group: name,
    }),
    signal('release', { run: id, unstarted: fc.constantFrom(undefined, true) }),
  ),
  organization: subject(
    organizationActor,
    START,
    update('put', { collection: fc.constantFrom('models', 'limits', 'keys'), name, value: fc.record({ n: small }) }),
    update('delete', { collection: fc.constantFrom('models', 'limits'), name }),
    update('amend', { collection: fc.constant('models'), name, members: fc.record({ m: small }) }),
    update('putKey', { name, value: fc.record({ role }), adminElsewhere: fc.boolean() }),
    update('putKey', {
      name,
      value: fc.record({ role, user: fc.constantFrom('a@x.test', 'A@x.test', 'b') }),
      adminElsewhere: fc.boolean(),
      knowsPeople: fc.constant(true),
    }),
    update('deleteKey', { name, adminElsewhere: fc.boolean(), knowsPeople: fc.constantFrom(undefined, true) }),
  ),
  recording: subject(
    recordingActor,
    { ...START, id: 'r', name: 'n', input: { a: 1 }, idleMs: 10_000, maxBytes: 1_000 },
    update('call', {
      tool: name,
      server: name,
      input: fc.record({ x: fc.constantFrom('@input.a', '@a_1', '@a_1.n', '@nobody', 1) }),
      content: hash,
    }),
    update('append', { step: fc.record({ action: fc.record({ return: fc.constant(true) }) }), name }),
    update('append', { step: fc.record({ input: fc.constantFrom('@a', '@b.n') }), output: fc.record({ n: small }) }),
    update('preset', { name: fc.constantFrom('a', 'a_1', 'b_1'), output: fc.record({ n: small }) }),
    update('change', { input: fc.record({ a: small }) }),
    update('drop', { name: fc.constantFrom('a', 'a_1', 'b_1') }),
    update('confirm', {
      items: fc.tuple(
        fc.record({ step: fc.constant('b_1'), pointer: fc.constant('/x'), reference: fc.constant('@input.a') }),
      ),
    }),
    update('saved', { slug: name, hash }),
    signal('callEnded', { name: fc.constantFrom('a_1', 'b_1', 'c_1'), output: fc.record({ n: small }) }),
    signal('callEnded', { name: fc.constant('a_2'), error: fc.record({ code: name, message: name }) }),
    timer,
  ),
  sync: subject(
    syncActor,
    { ...START, origin: 'git' },
    update('change', { add: fc.array(name), remove: fc.array(name) }),
  ),
  trigger: subject(
    triggerActor,
    { ...START, id: 'w.t', workflow: 'w' },
    update('claim', { claim: name }),
    update('release', { claim: name }),
    update('put', { revision: small, spec, by: name }),
    update('create', { spec }),
    update('change', { change: fc.record({ enabled: fc.boolean() }) }),
    update('change', { change: fc.record({ config: fc.record({ name }) }) }),
    update('remove', { definition: fc.option(small, { nil: undefined }) }),
    update('backfilled', { note: fc.record({ by: name }) }),
    signal('fired', { outcome: fc.constantFrom('started', 'refused'), at: name, executionId: name }),
  ),
};

const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** One second passes with each step. The answer, or the refusal, is what the sender gets. */
function take(
  actor: AnyActor,
  live: ActorSnapshot<unknown>,
  step: Step,
  n: number,
): { live: ActorSnapshot<unknown>; answer: unknown } {
  const now = T0 + n * 1_000;
  if (step.update !== undefined) {
    const taken = applyUpdate(actor, live, step.update, { key: `k${n}`, ...step.request }, now);
    return isRefusal(taken) ? { live, answer: taken } : { live: taken.state, answer: taken.answer };
  }
  const change =
    step.signal === undefined
      ? actor.act?.(live.state, now)
      : actor.signals?.[step.signal]?.(live.state, step.request, now);
  return { live: change === undefined ? live : { ...live, state: change.state }, answer: undefined };
}

function play({ actor, start }: Subject, steps: readonly Step[], carriesAfter: (n: number) => boolean) {
  let argument = start;
  let live = beginActor(actor, argument, BIRTH);
  const answers: unknown[] = [];
  for (const [n, step] of steps.entries()) {
    const taken = take(actor, live, step, n);
    live = taken.live;
    answers.push(taken.answer);
    if (!carriesAfter(n)) continue;
    argument = asJson(continueAsNewStart(actor, argument, live));
    live = beginActor(actor, argument, { ...BIRTH, runId: `run ${n}` });
  }
  return { answers, live, carried: asJson(continueAsNewStart(actor, argument, live)).carried };
}

describe.each(Object.entries(SUBJECTS))('the actor %s', (_name, subject) => {
  const { actor } = subject;
  const steps = fc.array(subject.step, { maxLength: 25 });

  it('loses nothing when it continues as new after any operations', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.boolean(), { minLength: 25, maxLength: 25 }), (played, carries) => {
        const straight = play(subject, played, () => false);
        const carried = play(subject, played, (n) => carries[n] === true);
        expect(carried.answers).toEqual(straight.answers);
        expect(carried.carried).toEqual(straight.carried);
      }),
      { numRuns: 150 },
    );
  });

  it('answers a repeated request as before, and changes nothing by it or by a refused one', () => {
    fc.assert(
      fc.property(steps, (played) => {
        let live = beginActor(actor, subject.start, BIRTH);
        for (const [n, step] of played.entries()) {
          const before = asJson(actor.carry(live.state));
          const first = take(actor, live, step, n);
          expect(asJson(actor.carry(live.state))).toEqual(before);
          if (step.update !== undefined) {
            const again = take(actor, first.live, step, n);
            expect(again.answer).toEqual(first.answer);
            expect(again.live).toBe(first.live);
          }
          live = first.live;
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('an actor', () => {
  it('refuses requests without a key', () => {
    const live = beginActor(syncActor, { ...START, origin: 'git' }, BIRTH);
    expect(applyUpdate(syncActor, live, 'change', undefined, T0)).toMatchObject({ refused: 'invalid_request' });
  });

  it('remembers the latest 64 answers', () => {
    let live = beginActor(syncActor, { ...START, origin: 'git' }, BIRTH);
    const change = (n: number) =>
      applyUpdate(syncActor, live, 'change', { key: `${n}`, add: [`${n}`], remove: [] } as { key: string }, T0);
    for (let n = 0; n < 70; n++) {
      const taken = change(n);
      if (!isRefusal(taken)) live = taken.state;
    }
    expect(live.answers).toHaveLength(64);
    expect(change(6)).toMatchObject({ state: live, answer: { slugs: ['0', '1', '2', '3', '4', '5', '6'] } });
  });
});
