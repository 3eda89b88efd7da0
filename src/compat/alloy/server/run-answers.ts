/** Runs as alloy shows them. */
import { z } from 'zod';
import { runError, unreadable } from '../../../gateway/answers/executions.ts';
import { anything, named, pageOf, text, time } from '../../../gateway/answers/named.ts';
import { definitionDocument } from '../../../gateway/answers/workflows.ts';

const cost = z.object({
  key_type: text,
  input_tokens: z.number(),
  output_tokens: z.number(),
  cached_input_tokens: z.number(),
  usd_cost: z.number(),
});
export const alloyRun = named(
  'Run004',
  z.object({
    id: text,
    run_id: text,
    workflow_id: text,
    status: z.enum(['created', 'in_progress', 'suspended', 'completed', 'failed', 'aborted']),
    parent_workflow: text.nullable(),
    conversation_id: text.nullable(),
    conversation_channel: text.nullable(),
    conversation_title: text.nullable(),
    model: text.nullable(),
    input_tokens: z.number(),
    output_tokens: z.number(),
    channel: text.nullable(),
    ai_employee_id: text.nullable(),
    trigger_id: text.nullable(),
    trigger_url: text.nullable(),
    debounce_key: text.nullable(),
    costs: z.array(cost),
    created_at: time,
    completed_at: time.nullable(),
    failed_at: time.nullable(),
    unreadable: unreadable.optional(),
    flow: definitionDocument.nullable().optional(),
    state: z.object({
      currentStepId: text.nullable(),
      error: runError.nullable(),
      runtimeContext: z.object({
        userId: text.nullable(),
        employeeId: text.nullable(),
        isAsync: z.boolean().describe('Always true: every run goes through a queue.'),
        isDebug: z.boolean().optional().describe('Whether the run has presets: results given in place of steps.'),
        organizationId: text.optional(),
        workflowId: text.optional(),
        state: anything.optional(),
      }),
      steps: z.array(
        z.object({
          stepId: text,
          type: text,
          status: text,
          input: anything,
          output: anything,
          error: text.nullable(),
          startedAt: time,
          completedAt: time.nullable(),
          unreadable: unreadable.optional(),
        }),
      ),
    }),
  }),
);
export const alloyRunPage = named('Run004Page', pageOf(alloyRun));
