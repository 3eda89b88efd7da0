import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { type FoldedRun, guessesOf, sliceOf } from '../../src/history/chain.ts';
import { Fold } from '../../src/history/fold.ts';
import type { RunTrace } from '../../src/history/run-trace.ts';
import { places, withRoots } from '../engine/roots.ts';
import { Model, WORKFLOW_ID } from './model.ts';
import { blocksWithChildren, definitionOf } from './programs.ts';

type Asked = { readonly do: 'signal' | 'update'; readonly name: string; readonly payload: unknown };
type Act =
  | { readonly do: 'task'; readonly fails: ('taskFailed' | 'taskTimedOut')[]; readonly meanwhile: number }
  | { readonly do: 'complete' | 'fail' | 'fire' | 'child'; readonly n: number }
  | Asked
  | { readonly do: 'together'; readonly list: readonly Asked[] }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'continue' | 'cancel' };

const named = (key: string | undefined) => (key === undefined ? {} : { key });
const request = fc.oneof(
  fc.record({
    name: fc.constantFrom('approve', 'reject'),
    payload: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }).map(named),
  }),
  fc.record({
    name: fc.constantFrom('pause', 'resume', 'skipTimer', 'cancelStep', 'retryStep'),
    payload: fc.constant({}),
  }),
);
const message = fc.record({
  name: fc.constant('message'),
  payload: fc.oneof(
    fc.record({ name: fc.constantFrom('news', 'gossip'), payload: fc.integer() }),
    fc.record({ name: fc.constant('news'), payload: fc.integer(), event: fc.constantFrom({}, { key: 'k' }) }),
  ),
});
const nonsense = fc.constantFrom(
  { name: 'approve', payload: { step: 7 } },
  { name: 'approve', payload: { stepp: 'a' } },
  { name: 'message', payload: { name: 'news', data: 1 } },
  { name: 'unheard-of', payload: 1 },
);

/** Signals and updates that compete: only their order decides. */
const asked: fc.Arbitrary<Asked> = fc.record({
  do: fc.constantFrom('signal' as const, 'update' as const),
  name: fc.constantFrom('approve', 'reject'),
  payload: fc.constant({}),
});

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('task' as const),
      fails: fc.array(fc.constantFrom('taskFailed' as const, 'taskTimedOut' as const), { maxLength: 1 }),
      meanwhile: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('complete', 'complete', 'complete', 'fail', 'fire', 'child', 'child'),
      n: fc.nat(9),
    }) as fc.Arbitrary<Act>,
  },
  { weight: 4, arbitrary: fc.oneof(request, message, nonsense).map((r) => ({ do: 'signal', ...r }) as Act) },
  { weight: 3, arbitrary: request.map((r) => ({ do: 'update', ...r }) as Act) },
  {
    weight: 4,
    arbitrary: fc.array(asked, { minLength: 2, maxLength: 3 }).map((list) => ({ do: 'together', list }) as Act),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(2_000) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'continue' } as Act) },
);

function perform(model: Model, act: Act): void {
  switch (act.do) {
    case 'task':
      model.task(act.fails, () => {
        for (let n = 0; n < act.meanwhile; n++) {
          if (n === 0 && model.openActivities > 0) model.completeActivity(n);
          else model.signal('message', { name: 'news', payload: n });
        }
      });
      return;
    case 'complete':
      if (model.openActivities > 0) model.completeActivity(act.n);
      return;
    case 'fail':
      if (model.openActivities > 0) model.failActivity(act.n);
      return;
    case 'child':
      if (model.openChildren > 0) model.moveChild(act.n);
      return;
    case 'fire':
      if (model.openTimers > 0) model.fireTimer(act.n);
      return;
    case 'signal':
      model.signal(act.name, act.payload);
      return;
    case 'update':
      model.update(act.name, act.payload);
      return;
    case 'together':
      for (const one of act.list) perform(model, one);
      return;
    case 'pass':
      model.pass(act.ms);
      return;
    case 'continue':
      model.continueAsNew();
      return;
    case 'cancel':
      model.cancel();
  }
}

function folded(model: Model): (RunTrace & FoldedRun)[] {
  return model.histories.map((events, n) => {
    const fold = new Fold(WORKFLOW_ID);
    for (const event of events) fold.push(event);
    return { runId: `run-${n}`, ...fold.finish() };
  });
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** What the fold of a model's history must be, whatever happened in it. */
function demandFold(definition: Definition, acts: readonly Act[], cancels: boolean): void {
  const model = new Model(definition);
  for (const one of acts) {
    if (model.ended) break;
    perform(model, one);
  }
  if (cancels && !model.ended) model.cancel();
  if (!model.ended) model.task();
  model.close();

  const chain = folded(model);
  expect(plain(chain.at(-1)!.state)).toEqual(plain(model.state));

  const { rows, total } = sliceOf(chain, 0, 100_000);
  const begun = model.trace.filter((line) => line.t === 'begin');
  expect(total).toBe(begun.length);
  expect(rows.map((row) => row.path)).toEqual(begun.map((line) => line.path));
  const ends = new Map(model.trace.flatMap((line) => (line.t === 'end' ? [[line.path, line]] : [])));
  for (const row of rows) {
    const end = ends.get(row.path);
    expect(row.status === 'running' || row.status === 'waiting').toBe(end === undefined);
    if (end?.t === 'end') expect(row).toMatchObject({ status: end.status, ...(end.port ? { port: end.port } : {}) });
  }
  const wondered = guessesOf(chain).filter(({ why }) => !why.startsWith('local_activit'));
  if (!acts.some((one) => one.do === 'task' && one.fails.includes('taskTimedOut'))) expect(wondered).toEqual([]);
}

const happenings = fc.array(act, { maxLength: 60, size: 'max' });
const numRuns = Number(process.env['FOLD_RUNS'] ?? 200);

it('folds every history to the live state, whatever shares a task (E6)', () => {
  fc.assert(
    fc.property(blocksWithChildren, happenings, fc.boolean(), (list, acts, cancels) =>
      demandFold(definitionOf(list), acts, cancels),
    ),
    { numRuns },
  );
}, 60_000);

it('folds to the live state also where whole roots are stored at random places (E6)', () => {
  fc.assert(
    fc.property(blocksWithChildren, places, happenings, fc.boolean(), (list, chosen, acts, cancels) =>
      demandFold(withRoots(definitionOf(list), chosen), acts, cancels),
    ),
    { numRuns },
  );
}, 60_000);
