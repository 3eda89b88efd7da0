import { type ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { Definition } from '../../../src/definition/document/types.ts';
import { sharedServer } from '../../support/temporal.ts';
import { approve } from './run-definitions.ts';
import { eventTypes } from './run-support.ts';

const { server } = sharedServer();

const cyclic = {
  ...approve,
  steps: { a: { stepType: 'checkpoint', config: { name: 'x' }, nextSteps: { success: 'b' } } },
};

describe('what was started by hand and cannot run', () => {
  it.each<[string, unknown[]]>([
    ['nothing', []],
    ['a text', ['refund-approval']],
    ['null', [null]],
    ['a list', [[approve]]],
    ['an object of something else', [{ workflow: 'refund' }]],
    ['a definition without steps', [{ definition: { name: 'x', slug: 'x', steps: {} } }]],
    ['steps that are none', [{ name: 'x', slug: 'x', steps: { a: null, b: 7 } }]],
    ['steps as a list', [{ name: 'x', slug: 'x', steps: [{ name: 'a', action: 'http' }] }]],
    ['an unknown kind', [{ name: 'x', slug: 'x', steps: { a: { stepType: 'teleport' } } }]],
    ['an unknown target', [cyclic]],
    [
      'an expression that does not parse',
      [{ name: 'x', slug: 'x', steps: { a: { stepType: 'condition', config: { expression: '1 +' } } } }],
    ],
    [
      'config of a wrong shape',
      [{ name: 'x', slug: 'x', config: 5, steps: { a: { stepType: 'sleep', config: 'long', nextSteps: 3 } } }],
    ],
    [
      'a retry that is none',
      [
        {
          name: 'x',
          slug: 'x',
          steps: { a: { stepType: 'http', config: { url: 'x' }, retry: { maxAttempts: 'many' } } },
        },
      ],
    ],
  ])('fails typed: %s', async (_what, args) => {
    const workflowId = `run.default.refused.${Math.random().toString(36).slice(2)}`;
    const handle = await server.client.workflow.start('run', { taskQueue: server.taskQueue, workflowId, args });
    const error = await handle.result().catch((failed: unknown) => failed);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    const cause = (error as WorkflowFailedError).cause as ApplicationFailure;
    expect(cause).toMatchObject({ type: 'invalid_definition', nonRetryable: true });
    const [told] = cause.details as [
      { code: string; retryable: boolean; details: { problems: { pointer: string; code: string }[] } },
    ];
    expect(told).toMatchObject({ code: 'invalid_definition', retryable: false });
    expect(told.details.problems.length).toBeGreaterThan(0);
    expect(await eventTypes(handle)).not.toContain('workflowTaskFailed');
  });

  it('takes a bare definition, without input', async () => {
    const plain: Definition = {
      name: 'Plain',
      slug: 'plain',
      steps: { a: { stepType: 'finish', config: { output: { got: '{{ input }}' } } } },
    };
    const workflowId = `run.default.plain.${Math.random().toString(36).slice(2)}`;
    const result = await server.client.workflow.execute('run', {
      taskQueue: server.taskQueue,
      workflowId,
      args: [plain],
    });
    expect(result).toEqual({ got: {} });
  });
});
