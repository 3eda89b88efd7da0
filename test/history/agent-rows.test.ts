// The decisions on an agent's calls in the trace.
import { expect, it } from 'vitest';
import { Fold } from '../../src/history/fold.ts';
import { Model, WORKFLOW_ID } from './model.ts';

it('shows who rejected a call, and why', () => {
  const approval = { tools: ['t'], message: 'May it?' };
  const work = { stepType: 'agent', config: { userPrompt: 'Go.', mcpServerIds: ['s'], approval } };
  const model = new Model({ name: 'A', slug: 'a', steps: { work } });
  model.task();
  const target = { kind: 'tool', server: 's', tool: 't' };
  const calls = [{ id: 'c', name: 't', input: { cents: 9 }, target }];
  model.completeActivity(0, { data: { answer: null, text: '', messages: [], calls } });
  model.task();
  const step = 'work/turn[0]/tool[0]';
  model.signal('decide', { step, decision: 'rejected', comments: 'too much', by: 'ann', via: 'api' });
  model.task();
  const fold = new Fold(WORKFLOW_ID);
  for (const event of model.histories[0]!) fold.push(event);
  expect(fold.finish().rows.find(({ path }) => path === step)).toMatchObject({
    stepType: 'tool',
    status: 'failed',
    input: { cents: 9 },
    error: {
      code: 'approval_denied',
      message: 'This call was rejected by ann: too much',
      path: step,
      stepSlug: 'work',
    },
  });
});
