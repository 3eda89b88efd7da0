// Random programs are played until they fail, armed again, and played to their end: nothing that had ended begins anew.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Definition } from '../../src/definition/document/types.ts';
import { advance } from '../../src/engine/advance.ts';
import { waitingFor } from '../../src/engine/inbound/view.ts';
import { resumedState } from '../../src/engine/resume/rewind.ts';
import { countCommands } from '../../src/engine/state/command-backlog.ts';
import type { Event, TraceEvent } from '../../src/engine/state/protocol.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { Fold } from '../../src/history/fold.ts';
import { NotRetryable, RetryPlan } from '../../src/history/retry-plan.ts';
import type { Json } from '../../src/json/json.ts';
import { Model, WORKFLOW_ID } from './model.ts';
import { type Block, blocksWithChildren, definitionOf } from './programs.ts';

type Act = {
  readonly do: 'complete' | 'fail' | 'fire' | 'child' | 'approve' | 'news' | 'continue';
  readonly n: number;
};
const act: fc.Arbitrary<Act> = fc.record({
  do: fc.constantFrom('complete', 'complete', 'fail', 'fail', 'fire', 'child', 'approve', 'news', 'continue'),
  n: fc.nat(9),
});

function perform(model: Model, { do: what, n }: Act): void {
  if (what === 'complete' && model.openActivities > 0) model.completeActivity(n);
  else if (what === 'fail' && model.openActivities > 0) model.failActivity(n);
  else if (what === 'fire' && model.openTimers > 0) model.fireTimer(n);
  else if (what === 'child' && model.openChildren > 0) model.moveChild(n);
  else if (what === 'approve') model.signal('approve', {});
  else if (what === 'news') model.signal('message', { name: 'news', payload: n });
  else if (what === 'continue') model.continueAsNew();
}

/** The same steps, which let nothing pass: a failure fails its branch, and the run. */
function strict(definition: Definition): Definition {
  const steps = Object.entries(definition.steps).map(([slug, { onError: _passes, config = {}, ...step }]) => {
    const { mode: _settled, onError: _continue, ...rest } = config;
    return [slug, { ...step, config: rest }];
  });
  return { ...definition, steps: Object.fromEntries(steps) };
}

function armed(model: Model): RunState | undefined {
  const { ending } = model.state;
  if (ending?.status !== 'failed' || model.state.rollback !== undefined) return undefined;
  try {
    const rearming = new RetryPlan(ending.error);
    for (const [n, events] of model.histories.entries()) {
      const fold = new Fold(WORKFLOW_ID, undefined, rearming.searchOptions(String(n)));
      for (const event of events) fold.push(event);
      fold.finish();
    }
    let state: RunState | undefined;
    for (const [n, events] of model.histories.entries()) {
      const without = rearming.replayOptions(String(n));
      const fold = new Fold(
        WORKFLOW_ID,
        undefined,
        state === undefined ? without : { ...without, initialState: state },
      );
      for (const event of events) fold.push(event);
      state = fold.finish().state;
    }
    const resumed = resumedState(model.program, rearming.checkedState(state), {
      work: rearming.postponed,
      at: 9e6,
      limiters: [],
    });
    return restore(JSON.parse(JSON.stringify(serialize(model.program, resumed))) as Json);
  } catch (error) {
    if (error instanceof NotRetryable) return undefined;
    throw error;
  }
}

/** Whatever is open ends well, one after the other. */
function playOn(model: Model, state: RunState): TraceEvent[] {
  const trace: TraceEvent[] = [];
  const feed = (event: Event) => advance(model.program, state, event, (line) => trace.push(line));
  feed({ type: 'continue', at: 9e6 });
  for (let n = 0; state.ending === undefined && n < 2_000; n++) {
    const at = 9e6 + n;
    if (state.yielding) feed({ type: 'continue', at });
    const id = Object.keys(state.openCommands).find((one) => !state.backlog.includes(one));
    const command = id === undefined ? undefined : state.openCommands[id];
    const [wait] = waitingFor(state);
    if (id !== undefined && command?.type === 'run') feed({ type: 'completed', id, result: { data: {} }, at });
    else if (id !== undefined && command?.type === 'rollback')
      feed({ type: 'completed', id, result: { data: {} }, at });
    else if (id !== undefined && command?.type === 'child') feed({ type: 'childDone', id, output: {}, at });
    else if (wait?.kind === 'approval') feed({ type: 'decide', decision: 'approved', via: 'api', step: wait.path, at });
    else if (wait?.kind === 'message') feed({ type: 'message', name: wait.name ?? '', payload: n, at });
    else if (id !== undefined) feed({ type: 'fired', id, at });
  }
  return trace;
}

/** A listener that the failure cancels is older than the one that takes the second message. */
const HEARD_ELSEWHERE: [Block[], Act[]] = [
  [
    {
      kind: 'parallel',
      branches: [
        [{ kind: 'forEach', times: 2, body: [{ kind: 'listen' }, { kind: 'child' }] }],
        [{ kind: 'set' }, { kind: 'listen' }],
      ],
    },
  ],
  [
    { do: 'news', n: 0 },
    { do: 'fail', n: 0 },
    { do: 'news', n: 0 },
  ],
];

it('arms what failed, and nothing else, in any program', () => {
  let armedRuns = 0;
  fc.assert(
    fc.property(blocksWithChildren, fc.array(act, { maxLength: 40, size: 'max' }), (list, acts) => {
      const model = new Model(strict(definitionOf(list)));
      model.task();
      for (const one of acts) {
        if (model.ended) break;
        perform(model, one);
        if (!model.ended) model.task();
      }
      model.close();
      const state = armed(model);
      if (state === undefined) return;
      armedRuns++;
      expect(state.commandCounts).toEqual(countCommands(state));
      expect(state.sentCount).toBe(Object.keys(state.openCommands).length - state.backlog.length);
      const ended = model.trace.flatMap((line) =>
        line.t === 'end' && (line.status === 'completed' || line.status === 'skipped') ? [line.path] : [],
      );
      const again = new Set(playOn(model, state).map(({ path }) => path));
      expect(ended.filter((path) => again.has(path))).toEqual([]);
      expect(state.ending?.status).toBeDefined();
    }),
    { numRuns: Number(process.env['FOLD_RUNS'] ?? 150), examples: [HEARD_ELSEWHERE] },
  );
  expect(armedRuns).toBeGreaterThan(10);
});
