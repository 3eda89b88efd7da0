import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import { framePath, tickPath, visitPath } from '../../src/engine/state/paths.ts';
import { ambiguitiesOf, type FoldedRun, outlinesOf, sliceOf } from '../../src/history/chain.ts';
import { Fold } from '../../src/history/fold.ts';
import type { RunTrace } from '../../src/history/run-trace.ts';
import { type IterationRange, summaryOf } from '../../src/history/summary.ts';
import type { TraceRow } from '../../src/history/trace-rows.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { runChunks } from '../../src/steps/chunks.ts';
import { rootReferences, withRoots } from '../engine/full-roots.ts';
import { Model, type SegmentPlan, WORKFLOW_ID } from './model.ts';
import { blocks, blocksWithChildren, definitionOf } from './programs.ts';

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
      model.advanceClock(act.ms);
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

/** Every visit ends after it begins, within the run, and before what the core began after its end. */
function demandTimes(model: Model, rows: readonly TraceRow[]): void {
  const byPath = new Map(rows.map((row) => [row.path, row]));
  const run = model.histories.flat();
  let ended = run[0]!.time;
  for (const line of model.trace) {
    const row = byPath.get(line.path)!;
    if (line.t === 'begin') expect(row.startedAt).toBeGreaterThanOrEqual(Math.max(ended, line.at));
    if (line.t !== 'end') continue;
    expect(row.completedAt).toBeGreaterThanOrEqual(row.startedAt);
    expect(row.completedAt).toBeLessThanOrEqual(line.at);
    expect(row.completedAt).toBeLessThanOrEqual(run.at(-1)!.time);
    ended = Math.max(ended, row.completedAt!);
  }
}

/** A row's frame and visit make its path, and its container is a row in the frame around it. */
function demandPlaces(rows: readonly TraceRow[]): void {
  const byPath = new Map(rows.map((row) => [row.path, row]));
  for (const { path, stepSlug, frame, container, branch, index, tick, visit, inner } of rows) {
    if (inner !== true) expect(visitPath(frame ?? '', stepSlug, visit!)).toBe(path);
    expect([branch, index, tick].filter((one) => one !== undefined)).toHaveLength(frame === undefined ? 0 : 1);
    if (frame === undefined) continue;
    expect(byPath.has(container!)).toBe(true);
    if (tick !== undefined) expect(frame).toBe(tickPath(container!, tick));
    else expect(frame).toBe(framePath(container!, branch ?? String(index), branch === undefined));
  }
}

/** The summary counts the rows, of the whole run and of each frame. */
function demandSummary(chain: readonly FoldedRun[], rows: readonly TraceRow[]): void {
  const briefs = outlinesOf(chain);
  expect(briefs.map(withoutValues)).toEqual(rows.map(withoutValues));
  const frames = new Set(rows.flatMap(({ frame }) => (frame === undefined ? [] : [frame])));
  for (const within of [undefined, ...frames]) {
    const meant = rows.filter(({ path }) => within === undefined || path.startsWith(`${within}/`));
    const { counted, steps, containers } = runChunks(summaryOf(briefs, { ranges: 3, ...omitUndefined({ within }) }));
    expect(counted).toBe(meant.length);
    for (const { stepSlug, visits, statuses, ports } of steps) {
      const own = meant.filter((row) => row.stepSlug === stepSlug && row.inner !== true);
      expect(visits).toBe(own.length);
      const by = (value: (row: TraceRow) => string | undefined) => (name: string) =>
        own.filter((row) => value(row) === name).length;
      for (const [status, n] of Object.entries(statuses)) expect(by((row) => row.status)(status)).toBe(n);
      for (const [port, n] of Object.entries(ports)) expect(by((row) => row.port)(port)).toBe(n);
    }
    for (const { iterations, failed, ranges, kind, stepSlug } of containers) {
      const of = meant.filter(({ container }) => byPathOf(rows, container)?.stepSlug === stepSlug);
      expect(iterations).toBeGreaterThanOrEqual(new Set(of.map(({ frame }) => frame)).size);
      const sum = (range: IterationRange) => Object.values(range.statuses).reduce((a, b) => a + b, 0);
      const failures = ranges.reduce((all, { statuses }) => all + (statuses.failed ?? 0), 0);
      if (kind === 'branches') continue;
      expect(ranges.reduce((all, range) => all + sum(range), 0)).toBe(iterations);
      expect(failures).toBe(failed);
      expect(ranges.length).toBeLessThanOrEqual(3);
    }
  }
}

const withoutValues = ({ input: _i, output: _o, error: _e, decision: _d, failures: _f, ...row }: TraceRow) => row;

const byPathOf = (rows: readonly TraceRow[], path: string | undefined) => rows.find((row) => row.path === path);

/** What the fold of a model's history must be, whatever happened in it. */
function demandFold(
  definition: Definition,
  acts: readonly Act[],
  cancels: boolean,
  plans: readonly SegmentPlan[] = [],
): void {
  const model = new Model(definition, {}, plans);
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
  demandTimes(model, rows);
  demandPlaces(rows);
  demandSummary(chain, rows);
  const wondered = ambiguitiesOf(chain).filter(({ why }) => !why.startsWith('local_activit'));
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
});

it('folds to the live state also where full roots are stored at random places (E6)', () => {
  fc.assert(
    fc.property(blocksWithChildren, rootReferences, happenings, fc.boolean(), (list, chosen, acts, cancels) =>
      demandFold(withRoots(definitionOf(list), chosen), acts, cancels),
    ),
    { numRuns },
  );
});

const plan: fc.Arbitrary<SegmentPlan> = fc.record({
  local: fc.boolean(),
  ends: fc.integer({ min: 0, max: 8 }),
  fails: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }), {
    maxLength: 5,
  }),
});
const plans = fc.array(plan, { minLength: 1, maxLength: 6 });

it('folds segments to the live state, whatever comes while they run and wherever they are cut (E6)', () => {
  fc.assert(
    fc.property(blocksWithChildren, happenings, fc.boolean(), plans, (list, acts, cancels, cuts) =>
      demandFold(definitionOf(list), acts, cancels, cuts),
    ),
    { numRuns },
  );
});

it('does not apply an update that was accepted while a segment was open, and refused after it', () => {
  const acts: Act[] = [
    { do: 'task', fails: [], meanwhile: 0 },
    { do: 'update', name: 'approve', payload: {} },
    { do: 'complete', n: 0 },
    { do: 'task', fails: [], meanwhile: 0 },
  ];
  demandFold(definitionOf([{ kind: 'local' }]), acts, false, [{ local: false, ends: 0, fails: [] }]);
});

/** Walks the run to its end: every effect and timer ends, the oldest first. */
function rowsOf(definition: Definition, cuts: readonly SegmentPlan[]): { [path: string]: unknown } {
  const model = new Model(definition, {}, cuts);
  for (let turns = 0; !model.ended && turns < 2_000; turns++) {
    model.task();
    if (model.openActivities > 0) model.completeActivity(0);
    else if (model.openTimers > 0) model.fireTimer(0);
  }
  model.close();
  const { rows } = sliceOf(folded(model), 0, 100_000);
  return Object.fromEntries(
    rows.map(({ path, status, port, attempts, frame, visit }) => [path, { status, port, attempts, frame, visit }]),
  );
}

it('shows the same rows with segments, wherever they are cut, as without them', () => {
  const unhindered = plans.map((list) => list.map((cut) => ({ ...cut, ends: cut.ends + 1, fails: [] })));
  fc.assert(
    fc.property(blocks, unhindered, (list, cuts) => {
      const definition = withoutRaces(definitionOf(list));
      expect(rowsOf(definition, cuts)).toEqual(rowsOf(definition, []));
    }),
    { numRuns },
  );
});

/** The winner of a race depends on the order in which effects end. Waits for people do not end here. */
function withoutRaces(definition: Definition): Definition {
  const steps = Object.entries(definition.steps).map(([slug, step]): [string, StepDefinition] => {
    if (step.stepType === 'race') return [slug, { ...step, stepType: 'parallel', config: { mode: 'settled' } }];
    if (step.stepType !== 'listen' && step.stepType !== 'approval') return [slug, step];
    const [next] = Object.values(step.nextSteps ?? {});
    const nextSteps = next === undefined ? {} : { success: next };
    return [slug, { stepType: 'set', config: { values: { passed: true } }, nextSteps }];
  });
  return { ...definition, steps: Object.fromEntries(steps) };
}
