/**
 * The workflow `recordedCall`: calls one tool for a recording, once, and reports to workflows/actors/recording.ts. The
 * call continues after its caller has ended. A call that fails is not repeated: the agent sees the failure and decides.
 */
import { ActivityFailure, ApplicationFailure, getExternalWorkflowHandle, proxyActivities } from '@temporalio/workflow';
import {
  CALL_ENDED_SIGNAL,
  CALL_TIMEOUT_MS,
  type CallEnded,
  RECORDING_SLUG,
  type RecordedCallResult,
  type RecordedCallStart,
  STEP_OUTPUT_BYTES,
} from '../../src/contract/definitions/recording.ts';
import type { ActivityInput, ActivityOutput } from '../../src/contract/run/activity.ts';
import { exactJsonBytes } from '../../src/json/bytes.ts';
import type { Json } from '../../src/json/json.ts';

/** An activity learns that it was cancelled from its heartbeats. */
const HEARTBEAT_MS = 15_000;
/** For finding a worker, and for the report. */
const REPORT_MARGIN_MS = 20_000;

const { tool } = proxyActivities<{ tool(input: ActivityInput): Promise<ActivityOutput> }>({
  scheduleToCloseTimeout: CALL_TIMEOUT_MS - REPORT_MARGIN_MS,
  heartbeatTimeout: HEARTBEAT_MS,
  retry: { maximumAttempts: 1 },
});

export async function recordedCall(call: RecordedCallStart): Promise<RecordedCallResult> {
  const { content, ...ended } = await outcomeOf(call);
  const report: CallEnded = { name: call.name, ...ended };
  try {
    await getExternalWorkflowHandle(call.recording).signal<[CallEnded]>(CALL_ENDED_SIGNAL, report);
  } catch {
    // The recording has ended.
  }
  return { content };
}

type Outcome = Omit<CallEnded, 'name'> & RecordedCallResult;

async function outcomeOf({ organizationId, recording, name, server, tool: toolName, input }: RecordedCallStart) {
  try {
    const { data, meta } = await tool({
      config: { server, toolName, input },
      secrets: [],
      idempotencyKey: `${recording}/${name}`,
      path: name,
      stepSlug: name,
      execution: { id: recording, workflow: RECORDING_SLUG, organizationId },
    });
    const content = Array.isArray(meta?.['content']) ? meta['content'] : [];
    return limitOutput(data, content);
  } catch (error) {
    return { error: reasonOf(error), content: [] };
  }
}

function limitOutput(output: Json, content: readonly Json[]): Outcome {
  const bytes = exactJsonBytes(output);
  if (bytes > STEP_OUTPUT_BYTES) {
    const message = `The result has ${bytes} bytes; a recording takes ${STEP_OUTPUT_BYTES}. Request less data.`;
    return { error: { code: 'result_too_large', message }, content: [] };
  }
  return { output, content: exactJsonBytes(content) > STEP_OUTPUT_BYTES ? [] : content };
}

function reasonOf(error: unknown): NonNullable<CallEnded['error']> {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'effect_failed', message: cause.message };
  return { code: 'no_answer', message: 'No worker has called the tool in time, or the worker that did has stopped.' };
}
