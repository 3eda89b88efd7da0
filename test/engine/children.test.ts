import { describe, expect, it } from 'vitest';
import { keyedRunId } from '../../src/client/temporal/ids.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { type Simulation, simulate } from '../../src/engine/simulate.ts';
import { childRunId } from '../../src/engine/state/child-run.ts';
import { programOf } from '../support/program.ts';

const GENESIS: Simulation['genesis'] = {
  executionId: 'run.default.parent.1',
  organizationId: 'default',
  input: {},
  presets: {},
  trigger: { type: 'manual' },
  depth: 0,
  startedAt: 1_768_473_000_000,
};

function walk(
  steps: Definition['steps'],
  more: Partial<Simulation> = {},
  genesis: Partial<Simulation['genesis']> = {},
) {
  const program = programOf({ name: 'Parent', slug: 'parent', steps });
  const effect: Simulation['effect'] = () => ({ result: { data: null } });
  // E2: the state is carried after every event, as continue-as-new would.
  return simulate(program, { genesis: { ...GENESIS, ...genesis }, effect, serializesAlways: true, ...more });
}

const call = (config: Definition['steps'][string]['config'] = {}, nextSteps: { [port: string]: string } = {}) => ({
  stepType: 'run_workflow',
  config: { workflow: 'other', ...config },
  nextSteps,
});

describe('a child', () => {
  it('has an id that comes from its parent, its start and its path alone', () => {
    const id = childRunId(GENESIS, 'each~1/call', 'other');
    expect(id).toMatch(/^run\.default\.other\.child-[0-9a-f]{32}$/);
    expect(childRunId({ ...GENESIS }, 'each~1/call', 'other')).toBe(id);
    for (const other of [
      childRunId(GENESIS, 'each~2/call', 'other'),
      childRunId({ ...GENESIS, startedAt: GENESIS.startedAt + 1 }, 'each~1/call', 'other'),
      childRunId({ ...GENESIS, executionId: 'run.default.parent.2' }, 'each~1/call', 'other'),
    ]) {
      expect(other).not.toBe(id);
    }
  });

  it('has an id whose parts look as those of other runs, whatever the names are', () => {
    for (const name of ['plain-name', 'Ünïcode', 'a.b', '', 'x'.repeat(200)]) {
      const prefix = keyedRunId(name, name, 's', 'k').replace(/key-[0-9a-f]+$/, '');
      expect(childRunId({ ...GENESIS, organizationId: name }, 'call', name).startsWith(prefix), name).toBe(true);
    }
  });

  it('undoes nothing, and a rollback that would be one is refused', () => {
    const undo = { stepType: 'run_workflow', config: { workflow: 'other' } };
    const run = walk({
      pay: { stepType: 'http', config: { url: 'https://x.test' }, rollback: undo, nextSteps: { success: 'no' } },
      no: { stepType: 'fail', config: { code: 'no', message: 'No.', rollback: true } },
    });
    expect(run).toMatchObject({
      status: 'failed',
      error: { code: 'no', details: { rollback: [{ path: 'pay', code: 'rollback_kind' }] } },
    });
  });

  it('gives its output to the step, which names it', () => {
    const run = walk({ call: call() }, { child: () => ({ output: 42 }) });
    expect(run).toMatchObject({ status: 'completed', output: 42 });
    const executionId = childRunId(GENESIS, 'call', 'other');
    expect(run.commands).toContainEqual({ type: 'child', id: 'call', executionId, workflow: 'other', input: {} });
    expect(run.trace).toContainEqual(
      expect.objectContaining({ t: 'end', output: { type: 'run_workflow', data: 42, meta: { executionId } } }),
    );
  });

  it('is what the run waits for, by its id', () => {
    const { status, waits } = walk({ call: call() });
    expect(status).toBe('waiting');
    expect(waits).toMatchObject([
      { path: 'call', kind: 'child', name: 'other', executionId: childRunId(GENESIS, 'call', 'other') },
    ]);
  });

  it('fails the step as it failed, and stands in the details', () => {
    const error = { code: 'no_stock', message: 'Nothing left.', retryable: false, details: { left: 0 } };
    const run = walk({ call: call() }, { child: () => ({ error }) });
    expect(run.error).toMatchObject({
      code: 'no_stock',
      path: 'call',
      details: { executionId: childRunId(GENESIS, 'call', 'other'), cause: { left: 0 } },
    });
  });

  it('is not waited for where wait is false', () => {
    const run = walk({ call: call({ wait: false }) });
    expect(run).toMatchObject({
      status: 'completed',
      output: { executionId: childRunId(GENESIS, 'call', 'other') },
    });
  });

  it('is cancelled with its frame (E9)', () => {
    const run = walk(
      {
        both: { stepType: 'race', nextSteps: { call: 'call', go: 'go', done: 'end' } },
        call: call(),
        go: { stepType: 'listen', config: { name: 'go' } },
        end: { stepType: 'finish', config: { output: '{{ lastOutput.data.winner }}' } },
      },
      { signals: [{ when: 'go', signal: 'message', payload: { name: 'go' } }] },
    );
    expect(run.output).toBe('go');
    expect(run.commands).toContainEqual({ type: 'cancel', id: 'both/call/call' });
  });

  it('is not listed with the other waits of its step', () => {
    const calls = [
      { id: 'a', name: 'other', input: {}, target: { kind: 'workflow', workflow: 'other' } },
      { id: 'b', name: 't', input: {}, target: { kind: 'tool', server: 's', tool: 't' } },
    ];
    const effect: Simulation['effect'] = () => ({ result: { data: { answer: null, text: '', messages: [], calls } } });
    const config = { userPrompt: 'Go.', workflows: ['other'], mcpServerIds: ['s'], approval: { tools: ['t'] } };
    const { waits } = walk({ work: { stepType: 'agent', config } }, { effect });
    expect(waits).toMatchObject([{ path: 'work/turn[0]/tool[1]', kind: 'approval' }]);
    expect(waits[0]).not.toHaveProperty('executionId');
  });

  it('is cancelled at the timeout of the step', () => {
    const run = walk({ call: { ...call(), timeout: '1h' } });
    expect(run.error).toMatchObject({ code: 'timeout', path: 'call' });
    expect(run.commands).toContainEqual({ type: 'cancel', id: 'call' });
    expect(run.state.now).toBe(GENESIS.startedAt + 3_600_000);
  });

  it('is refused at depth 20', () => {
    const child: NonNullable<Simulation['child']> = () => ({ output: 'deep' });
    expect(walk({ call: call() }, { child }, { depth: 19 }).output).toBe('deep');
    expect(walk({ call: call() }, { child }, { depth: 20 }).error).toMatchObject({
      code: 'depth_exceeded',
      details: { limit: 20 },
    });
  });
});
