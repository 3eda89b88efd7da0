/** `/api/recordings`: recordings of tool calls, begun, listed, read, changed and deleted. */
import { z } from 'zod';
import {
  changeRecording,
  createRecording,
  listRecordings,
  readRecording,
} from '../../../client/recordings/recordings.ts';
import { MAX_IDLE_MS, MIN_IDLE_MS, STEP_INPUT_BYTES } from '../../../contract/definitions/recording.ts';
import { exactJsonBytes } from '../../../json/bytes.ts';
import type { Json } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { madeRecording, recordingPage, recordingView } from '../../answers/recordings.ts';
import type { Gateway } from '../../http/context.ts';
import { idempotentId } from '../../http/idempotency-key.ts';
import { ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { LIST_PROBLEMS, type ProblemCode, WRITE_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, nameText, pageQuery, shownName } from '../../validation/validation.ts';

export const recordingParams = { id: nameText(100) };
/** What a route about one recording may answer. */
export const RECORDING_PROBLEMS: readonly ProblemCode[] = ['not_found', 'gone'];

const title = shownName(200).describe('What is recorded.');
export const description = z.string().max(2_000).describe('For readers; the description of the definition.');
const input = anyJson.describe('What `@input` refers to while recording, such as the values of one example.');

const createBody = z.strictObject({
  name: title,
  description: description.optional(),
  input: input.optional(),
  idleMs: z
    .int()
    .min(MIN_IDLE_MS)
    .max(MAX_IDLE_MS)
    .optional()
    .describe('The recording expires after this time without a change. Default: seven days.'),
});
const changeBody = z.strictObject({
  name: title.optional(),
  description: description.optional(),
  input: input.optional(),
});

export const recordingRoutes = [
  route({
    method: 'GET',
    path: '/api/recordings',
    role: 'viewer',
    id: 'listRecordings',
    summary: 'Lists open recordings.',
    description: 'The latest first, without their steps. Recordings that have ended are not listed.',
    query: z.strictObject(pageQuery()),
    answers: { 200: { text: 'A page of recordings.', schema: recordingPage } },
    problems: LIST_PROBLEMS,
    handle: async ({ access, principal: { organizationId }, query: { limit, cursor } }) => {
      const found = await listRecordings(access, organizationId, { limit, ...omitUndefined({ cursor }) });
      const { unreadable, ...page } = found;
      const items = page.items.map(({ ended: _ended, ...shown }) => shown);
      return ok({ ...page, items, ...(unreadable.length === 0 ? {} : { unreadable }) });
    },
  }),
  route({
    method: 'POST',
    path: '/api/recordings',
    role: 'editor',
    id: 'createRecording',
    summary: 'Begins a recording: tool calls at its address become the steps of a definition.',
    description: 'An MCP client that connects to `mcpUrl` finds the tools of all MCP servers of the organization.',
    body: jsonOf(createBody),
    answers: { 201: { text: 'Begun.', schema: madeRecording } },
    problems: [...WRITE_PROBLEMS, 'payload_too_large', 'too_many'],
    handle: async ({ gateway, access, principal: { organizationId, id: by }, req, body }) => {
      const { name, input: given = {}, ...rest } = body;
      demandInputSize(given);
      const begun = { name, input: given, ...omitUndefined({ ...rest, id: idempotentId(req), by }) };
      const { ended: _ended, ...made } = await createRecording(access, organizationId, begun);
      return { status: 201, body: { ...made, mcpUrl: mcpUrlOf(gateway, made.id) } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/recordings/:id',
    role: 'viewer',
    id: 'getRecording',
    summary: 'Reads a recording with its steps.',
    description:
      'Inputs of steps have their references as they were written. Large outputs are left out, and are read ' +
      'with their step.',
    params: recordingParams,
    answers: { 200: { text: 'The recording.', schema: recordingView } },
    problems: RECORDING_PROBLEMS,
    handle: async ({ gateway, access, principal: { organizationId }, params: { id } }) =>
      ok(await shownRecording(gateway, access, organizationId, id)),
  }),
  route({
    method: 'PATCH',
    path: '/api/recordings/:id',
    role: 'editor',
    id: 'changeRecording',
    summary: 'Changes the name, the description or the input of a recording.',
    description: 'Recorded outputs stay as they are.',
    params: recordingParams,
    body: jsonOf(changeBody),
    answers: { 200: { text: 'Changed.', schema: recordingView } },
    problems: [...WRITE_PROBLEMS, ...RECORDING_PROBLEMS, 'payload_too_large', 'too_large'],
    handle: async ({ gateway, access, principal: { organizationId }, params: { id }, body }) => {
      await changeRecording(access, organizationId, id, 'change', omitUndefined(body));
      return ok(await shownRecording(gateway, access, organizationId, id));
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/recordings/:id',
    role: 'editor',
    id: 'deleteRecording',
    summary: 'Deletes a recording. Definitions that were saved from it stay.',
    description: 'Its steps and outputs cannot be read any more.',
    params: recordingParams,
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, ...RECORDING_PROBLEMS],
    handle: async ({ access, principal: { organizationId }, params: { id } }) => {
      await changeRecording(access, organizationId, id, 'end', {});
      return { status: 204 };
    },
  }),
];

async function shownRecording(gateway: Gateway, access: Gateway['access'], org: string, id: string) {
  const { ended: _ended, ...view } = await readRecording(access, org, id);
  return { ...view, mcpUrl: mcpUrlOf(gateway, id) };
}

const mcpUrlOf = (gateway: Gateway, id: string): string =>
  `${gateway.publicUrl()}/mcp/recordings/${encodeURIComponent(id)}`;

/** The recording's first event holds its input, before the actor can refuse it. */
function demandInputSize(given: Json): void {
  const bytes = exactJsonBytes(given);
  if (bytes > STEP_INPUT_BYTES)
    throw new HttpProblem(
      'payload_too_large',
      `The input has ${bytes} bytes; the limit is ${STEP_INPUT_BYTES}. Send less.`,
    );
}
