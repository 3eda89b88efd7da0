// An agent that failed is armed again within: no turn and no call that has ended is made once more.

import { describe, expect, it } from 'vitest';
import { advance } from '../../src/engine/advance.ts';
import { resumedState } from '../../src/engine/resume/rewind.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { Fold } from '../../src/history/fold.ts';
import { RetryPlan } from '../../src/history/retry-plan.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import type { EffectResult } from '../../src/steps/kind.ts';
import { Model, WORKFLOW_ID } from './model.ts';

const USAGE = {
  key_type: 'openai',
  model: 'house',
  input_tokens: 10,
  output_tokens: 1,
  cached_input_tokens: 0,
  usd_cost: 0.5,
};
/** A turn that wants so many calls, or answers. */
const turn = (calls: number): EffectResult => ({
  data: {
    answer: calls === 0 ? 'Done.' : null,
    text: '',
    messages: [],
    calls: Array.from({ length: calls }, (_none, i) => ({
      id: `c${i}`,
      name: 't',
      input: {},
      target: { kind: 'tool', server: 's', tool: 't' },
    })),
  },
  meta: { usage: USAGE },
});

function agent(config: JsonObject = {}, step: JsonObject = {}): Model {
  const steps = {
    work: { stepType: 'agent', config: { userPrompt: 'Go.', mcpServerIds: ['s'], ...config }, ...step },
  };
  const model = new Model({ name: 'A', slug: 'a', state: { sum: { type: 'number' } }, steps });
  model.task();
  return model;
}

function answer(model: Model, ...results: readonly EffectResult[]): void {
  for (const result of results) {
    model.completeActivity(0, result);
    model.task();
  }
}

function armed(model: Model): RunState {
  model.close();
  const { ending } = model.state;
  if (ending?.status !== 'failed') throw new Error(`The run is ${ending?.status ?? 'open'}.`);
  const rearming = new RetryPlan(ending.error);
  const fold = (options: ConstructorParameters<typeof Fold>[2]) => {
    const folding = new Fold(WORKFLOW_ID, { from: 0, to: 0 }, options);
    for (const event of model.histories[0]!) folding.push(event);
    return folding.finish();
  };
  fold(rearming.searchOptions('0'));
  const done = rearming.checkedState(fold(rearming.replayOptions('0')).state);
  return resumedState(model.program, done, { work: rearming.postponed, at: 5_000_000, limiters: [] });
}

const open = (state: RunState) => Object.keys(state.openCommands);

describe('an agent that failed is armed again', () => {
  it('with the model call that failed, after the turns that ended, and with what they cost', () => {
    const model = agent();
    answer(model, turn(2), { data: 1 }, { data: 2 });
    model.failActivity(0);
    model.task();
    const state = armed(model);
    expect(open(state)).toEqual(['work/turn[1]/model']);
    expect(state.openCommands['work/turn[1]/model']).toMatchObject({
      command: {
        idempotencyKey: `${WORKFLOW_ID}/work/turn[1]/model`,
        config: {
          messages: [{ role: 'user' }, { role: 'tool', content: [{ toolCallId: 'c0' }, { toolCallId: 'c1' }] }],
        },
      },
    });
    expect(state.costs).toMatchObject([{ input_tokens: 10, usd_cost: 0.5 }]);
  });

  it('shows its new attempt as a row of its own', () => {
    const model = agent();
    answer(model, turn(1), { data: 1 });
    model.failActivity(0);
    model.task();
    const carried = serialize(model.program, armed(model));
    const fold = new Fold(WORKFLOW_ID);
    const retried = { definition: model.program.definition, carried, retryOf: { runId: '0' } };
    fold.push({
      type: 'workflowStarted',
      id: 1,
      time: 5_000_000,
      argument: JSON.parse(JSON.stringify(retried)) as Json,
    });
    const { rows, restarted } = fold.finish();
    expect(restarted).toBe(true);
    expect(rows.map(({ path, stepType, status }) => [path, stepType, status])).toEqual([
      ['work', 'agent', 'running'],
      ['work/turn[1]/model', 'llm', 'running'],
    ]);
    expect(rows[1]?.input).toMatchObject({ messages: expect.any(Array) });
  });

  it('with as many turns again where it had none left', () => {
    const model = agent({ maxSteps: 2 });
    answer(model, turn(1), { data: 1 }, turn(1), { data: 2 });
    expect(model.state.ending).toMatchObject({ error: { code: 'agent_max_steps' } });
    const state = armed(model);
    expect(open(state)).toEqual(['work/turn[2]/model']);
    const carried = restore(JSON.parse(JSON.stringify(serialize(model.program, state))) as Json);
    advance(model.program, carried, { type: 'continue', at: 5_000_001 });
    let at = 5_000_002;
    const complete = (id: string, result: EffectResult) =>
      advance(model.program, carried, { type: 'completed', id, result, at: at++ });
    complete('work/turn[2]/model', turn(1));
    complete('work/turn[2]/tool[0]', { data: 3 });
    complete('work/turn[3]/model', turn(1));
    complete('work/turn[3]/tool[0]', { data: 4 });
    expect(carried.ending).toMatchObject({ error: { code: 'agent_max_steps', details: { maxSteps: 4 } } });
  });

  it('calls its model again where its answer failed the step', () => {
    const model = agent({}, { saveToState: 'sum' });
    answer(model, turn(1), { data: 1 }, turn(0));
    const state = armed(model);
    expect(open(state)).toEqual(['work/turn[1]/model']);
    expect(state.costs).toMatchObject([{ input_tokens: 20 }]);
  });

  it('continues where somebody had cancelled it', () => {
    const model = agent();
    answer(model, turn(1), { data: 1 });
    model.signal('cancelStep', { step: 'work' });
    model.task();
    expect(open(armed(model))).toEqual(['work/turn[1]/model']);
  });

  it('not where a call that has ended would be made again', () => {
    const model = agent({ stopWhen: '1|round(99)' });
    answer(model, turn(1), { data: 1 });
    expect(() => armed(model)).toThrow('after its calls had ended');
  });
});
