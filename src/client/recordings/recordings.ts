import { ulid } from 'ulid';
import {
  type AppendStep,
  type ChangeRecording,
  type ConfirmReferences,
  DEFAULT_IDLE_MS,
  type DropStep,
  MAX_RECORDINGS,
  type NoteSaved,
  type PresetOutput,
  RECORDING_MEMO,
  RECORDING_WORKFLOW,
  type RecordCall,
  type RecordCallAnswer,
  type RecordingStart,
  type RecordingSummary,
  type RecordingView,
  type ShownStep,
  STATE_OVERHEAD_BYTES,
  type Suggestion,
} from '../../contract/definitions/recording.ts';
import { MAX_BLOB_STATE_BYTES } from '../../definition/document/limits.ts';
import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { unknownReferencesInText } from '../../recording/references.ts';
import { summaryOf } from '../../recording/view.ts';
import { ClientError, rethrowAs } from '../errors.ts';
import { searchAttributes } from '../search-attributes/keys.ts';
import { compare } from '../search-attributes/query.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { describe, startUnlessTaken, updateActor } from '../temporal/actor-calls.ts';
import { recordingId } from '../temporal/ids.ts';
import { actorAttributes, actorQuery } from '../temporal/namespace-division.ts';
import { read } from '../temporal/rpc.ts';
import { countOf } from '../visibility/count.ts';
import { listPage, type Page, type PageRequest, partitionRows, type UnreadableRow } from '../visibility/listing.ts';

interface NewRecording {
  /** Default: a new one. The same id again is the same recording. */
  readonly id?: string;
  readonly name: string;
  readonly description?: string;
  /** What `@input` refers to while recording. */
  readonly input: Json;
  /** Default: seven days. */
  readonly idleMs?: number;
  readonly by?: string;
}

/**
 * Starts a recording. It needs no worker.
 * @throws ClientError `too_many` (open recordings of the organization, as far as Visibility knows them).
 */
export async function createRecording(
  access: WriteAccess,
  org: string,
  { id = ulid(), idleMs = DEFAULT_IDLE_MS, ...given }: NewRecording,
): Promise<RecordingSummary> {
  const start: RecordingStart = {
    organizationId: org,
    historyLimit: access.historyLimit,
    id,
    idleMs,
    maxBytes: Math.min(access.dataBytes, MAX_BLOB_STATE_BYTES) - STATE_OVERHEAD_BYTES,
    ...given,
  };
  const now = Date.now();
  const { name, input, description, by } = given;
  const state = {
    name,
    input,
    createdAt: now,
    changedAt: now,
    steps: [],
    named: {},
    ...omitUndefined({ description, by }),
  };
  const summary = summaryOf(start, state);
  const attributes = await actorAttributes(access, { key: searchAttributes.org, value: org });
  const workflowId = recordingId(org, id);
  await demandRecordingQuota(access, org, workflowId);
  await startUnlessTaken(access, 'rest', RECORDING_WORKFLOW, {
    workflowId,
    args: [start],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: { [RECORDING_MEMO]: summary },
    ...attributes,
  });
  return summary;
}

/** A request that is repeated finds the recording that it began. */
async function demandRecordingQuota(access: Access, org: string, workflowId: string): Promise<void> {
  if ((await countOf(access, await openRecordings(access, org))) < MAX_RECORDINGS) return;
  if ((await describe(access, workflowId)) !== undefined) return;
  throw new ClientError(
    'too_many',
    `${MAX_RECORDINGS} recordings of the organization are open. Delete some, or wait until they expire.`,
  );
}

const openRecordings = (access: Access, org: string): Promise<string> =>
  actorQuery(access, org, RECORDING_WORKFLOW, [compare('executionStatus', '=', 'Running')]);

export interface RecordingPage extends Page<RecordingSummary> {
  /** Recordings of the page that cannot be read. */
  readonly unreadable: readonly UnreadableRow<{ readonly id: string }>[];
}

/** The open recordings, latest first. The list may lag. */
export async function listRecordings(access: Access, org: string, request: PageRequest): Promise<RecordingPage> {
  const page = await listPage(access, await openRecordings(access, org), request);
  const { readable, unreadable } = partitionRows(page.items, ({ workflowId }) => ({
    id: workflowId.split('.').at(-1) ?? '',
  }));
  const items = readable.flatMap(({ memo }) => {
    const summary = memo[RECORDING_MEMO] as RecordingSummary | undefined;
    return summary === undefined || summary.ended !== undefined ? [] : [summary];
  });
  return { ...page, items, unreadable };
}

/** The recording with its steps. @throws ClientError `not_found`, `gone`, `temporal_unreachable`. */
export async function readRecording(access: Access, org: string, id: string): Promise<RecordingView> {
  const view = await queryRecording<RecordingView>(access, org, id, 'view');
  if (view.ended !== undefined) throw recordingEnded(id, view.ended);
  return view;
}

/** One step, with its whole output. @throws as readRecording, and `no_such_step`. */
export async function readStep(access: Access, org: string, id: string, name: string): Promise<ShownStep> {
  const step = await queryRecording<ShownStep | null>(access, org, id, 'step', name);
  if (step !== null) return step;
  throw new ClientError('no_such_step', `The recording has no step "${name.slice(0, 80)}".`);
}

/** @throws as readRecording. */
export async function readSuggestions(access: Access, org: string, id: string): Promise<readonly Suggestion[]> {
  await demandRecording(access, org, id);
  return queryRecording<Suggestion[]>(access, org, id, 'suggestions');
}

/** The outputs of the steps that have one, by their names. @throws as readRecording. */
export async function readOutputs(
  access: Access,
  org: string,
  { id, recorded }: RecordingView,
  names: readonly string[],
): Promise<{ [name: string]: Json }> {
  const outputs: { [name: string]: Json } = {};
  for (const step of recorded) {
    if (step.status !== 'completed' || !names.includes(step.name)) continue;
    const { output = null } = step.outputBytes === undefined ? step : await readStep(access, org, id, step.name);
    outputs[step.name] = output;
  }
  return outputs;
}

interface RecordingUpdates {
  readonly call: [RecordCall, RecordCallAnswer];
  readonly append: [AppendStep, { name: string }];
  readonly preset: [PresetOutput, { name: string }];
  readonly change: [ChangeRecording, { name: string }];
  readonly drop: [DropStep, { name: string }];
  readonly confirm: [ConfirmReferences, { confirmed: number }];
  readonly saved: [NoteSaved, { slug: string }];
  readonly end: [{ readonly key: string }, { ended: 'deleted' }];
}

/**
 * Sends an update to the recording. A repeated `key` gets the same answer.
 * @throws ClientError `not_found`, `gone`, and those of the update (src/contract/definitions/recording.ts).
 */
export function changeRecording<Name extends keyof RecordingUpdates>(
  access: WriteAccess,
  org: string,
  id: string,
  update: Name,
  request: Omit<RecordingUpdates[Name][0], 'key'>,
  key?: string,
): Promise<RecordingUpdates[Name][1]> {
  const sent = updateActor<RecordingUpdates[Name][0], RecordingUpdates[Name][1]>(
    access,
    recordingId(org, id),
    update,
    request,
    key,
  );
  return sent.catch(
    rethrowAs('not_found', async () => recordingEnded(id, (await describeRecording(access, org, id)).summary?.ended)),
  );
}

/** @throws ClientError `not_found`, `gone`. */
export async function demandRecording(access: Access, org: string, id: string): Promise<RecordingSummary> {
  const { isOpen, summary } = await describeRecording(access, org, id);
  if (isOpen && summary !== undefined && summary.ended === undefined) return summary;
  throw recordingEnded(id, summary?.ended);
}

async function describeRecording(access: Access, org: string, id: string) {
  const description = await describe(access, recordingId(org, id));
  const summary = description?.memo?.[RECORDING_MEMO] as RecordingSummary | undefined;
  return { isOpen: description?.status.name === 'RUNNING', summary };
}

/**
 * Refuses references within texts that lead to no step. Checked here, since a recording of an earlier version has to
 * take what it took.
 * @throws ClientError `unknown_reference`, `not_found`, `gone`.
 */
export async function demandKnownReferences(
  access: Access,
  org: string,
  id: string,
  written: Json,
  at: string,
): Promise<void> {
  if (unknownReferencesInText(written, []).length === 0) return;
  const { recorded } = await readRecording(access, org, id);
  const unknown = unknownReferencesInText(
    written,
    recorded.map(({ name }) => name),
  );
  const [first] = unknown;
  if (first === undefined) return;
  const problems = unknown.map((one) => ({ ...one, pointer: `${at}${one.pointer}` }));
  throw new ClientError('unknown_reference', first.message, { details: { problems } });
}

/** Asks the actor. @throws ClientError `not_found`, `temporal_unreachable`. */
export async function queryRecording<Answer>(
  access: Access,
  org: string,
  id: string,
  query: string,
  argument?: string,
): Promise<Answer> {
  const handle = access.client.workflow.getHandle(recordingId(org, id));
  const answer = read(access, () =>
    handle.query<Answer, [string?]>(query, ...(argument === undefined ? [] : [argument])),
  );
  return answer.catch(rethrowAs('not_found', () => recordingEnded(id, undefined)));
}

/** A deleted recording is as one that never was. */
const recordingEnded = (id: string, how: RecordingSummary['ended']): ClientError =>
  how === 'expired'
    ? new ClientError('gone', 'The recording was idle, and has expired. Begin another one.')
    : new ClientError('not_found', `There is no recording ${id.slice(0, 80)}.`);
