/**
 * Calls a tool for a recording. The recording first adds the step and resolves its references, then a workflow of its
 * own calls the tool and reports to the recording. So a call is recorded also where this process ends meanwhile.
 */
import { WorkflowFailedError } from '@temporalio/client';
import { ulid } from 'ulid';
import {
  CALL_OVERDUE_MS,
  CALL_TIMEOUT_MS,
  type CallInput,
  RECORDED_CALL_WORKFLOW,
  type RecordedCallResult,
  type RecordedCallStart,
  type ShownStep,
} from '../../contract/definitions/recording.ts';
import { canonicalText } from '../../json/canonical-text.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { ClientError } from '../errors.ts';
import { unaudited, type WriteAccess } from '../temporal/access.ts';
import { startUnlessTaken } from '../temporal/actor-calls.ts';
import { recordedCallId, recordingId, sha256Hex } from '../temporal/ids.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { findTool } from './offered-tools.ts';
import { changeRecording, demandKnownReferences, demandRecording, queryRecording, readStep } from './recordings.ts';

interface ToolCall {
  readonly tool: string;
  readonly server?: string;
  /** May hold references to earlier steps. */
  readonly input: JsonObject;
  /** The same key again is the same call. */
  readonly key?: string;
  readonly by?: string;
}

export interface CalledTool {
  readonly step: ShownStep;
  /** Content of the tool that is no text, such as images. It is not recorded. */
  readonly content: readonly Json[];
}

/**
 * Calls the tool once, and answers the step as it was recorded, also where the call failed. `onSent`: the call has been
 * sent, and only its end is awaited.
 * @throws ClientError `not_found`, `gone`, `unknown_tool`, `ambiguous_tool`, `unknown_reference`,
 * `unresolved_reference`, `payload_too_large`, `too_many`, `too_large`, `idempotency_conflict`.
 */
export async function recordCall(
  access: WriteAccess,
  org: string,
  id: string,
  { tool: wanted, server: wantedServer, input, key = ulid(), by }: ToolCall,
  onSent: () => void = () => undefined,
): Promise<CalledTool> {
  await demandRecording(access, org, id);
  await demandKnownReferences(access, org, id, input, '/input');
  const { server, tool } = await findTool(unaudited(access), org, wanted, wantedServer);
  const content = sha256Hex(canonicalText([server, tool.name, input])).slice(0, 32);
  const call = { tool: tool.name, server, input, content, ...omitUndefined({ by }) };
  const begun = await changeRecording(access, org, id, 'call', call, key);
  if (begun.content !== content)
    throw new ClientError(
      'idempotency_conflict',
      'The key was used for another call of this recording. Choose a new key.',
    );
  onSent();
  // After this time Temporal may have forgotten the call, and would make it again.
  if (Date.now() - begun.startedAt > CALL_OVERDUE_MS)
    return { step: await readStep(access, org, id, begun.name), content: [] };
  const result = await callTool(access, org, id, begun.name, { server, tool: tool.name });
  return { step: await readStep(access, org, id, begun.name), ...result };
}

async function callTool(
  access: WriteAccess,
  org: string,
  id: string,
  name: string,
  target: Pick<RecordedCallStart, 'server' | 'tool'>,
): Promise<RecordedCallResult> {
  const resolved = await queryRecording<CallInput>(access, org, id, 'callInput', name);
  if ('problem' in resolved) throw new ClientError('unresolved_reference', resolved.problem);
  const { input } = resolved;
  const start: RecordedCallStart = { organizationId: org, recording: recordingId(org, id), name, ...target, input };
  const workflowId = recordedCallId(org, id, name);
  await startUnlessTaken(access, 'rest', RECORDED_CALL_WORKFLOW, {
    workflowId,
    args: [start],
    workflowExecutionTimeout: CALL_TIMEOUT_MS,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    ...(await actorAttributes(access)),
  });
  try {
    return await access.client.workflow.getHandle(workflowId).result();
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    throw new ClientError(
      'mcp_server_failed',
      `No worker has called the tool '${target.tool}' in time. The step "${name}" counts as failed.`,
      { details: { code: 'no_answer' }, cause: error },
    );
  }
}
