/** What becomes of a recording: a definition that is stored, or a run of it with another input. */
import { z } from 'zod';
import { changeRecording, readOutputs, readRecording } from '../../../client/recordings/recordings.ts';
import { bodyParts } from '../../../client/starts/prepare-run.ts';
import { startRun } from '../../../client/starts/start.ts';
import type { RecordingView } from '../../../contract/definitions/recording.ts';
import { slugify } from '../../../definition/document/names.ts';
import type { Json, JsonObject } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { documentOf, STEP_ORDERS } from '../../../recording/document.ts';
import { startedOrDryRun } from '../../answers/executions.ts';
import { recordedDefinition } from '../../answers/recordings.ts';
import type { Gateway } from '../../http/context.ts';
import { ok, route } from '../../http/route.ts';
import { jsonOf } from '../../http/route-body.ts';
import { type Checked, checkGiven, checkText, demandValid } from '../../input/definition-input.ts';
import { dryRun } from '../../input/dry-run.ts';
import { clientRequestIdField } from '../../input/start-fields.ts';
import { START_ANSWERS, START_PROBLEMS, startedAnswer, startKeyOf } from '../../input/starts.ts';
import { HttpProblem } from '../../validation/http-problem.ts';
import { CHECK_PROBLEMS } from '../../validation/problem-codes.ts';
import { anyJson, nameText, slugText, timeoutMsField } from '../../validation/validation.ts';
import { changeNotes } from '../workflows/history.ts';
import {
  PUT_PROBLEMS,
  STORE_ANSWERS,
  STORE_CONDITIONS,
  storeChecked,
  storedAnswer,
} from '../workflows/workflow-head.ts';
import { description, RECORDING_PROBLEMS, recordingParams } from './recordings.ts';

const shape = {
  order: z
    .enum(STEP_ORDERS)
    .default('recorded')
    .describe(
      '`recorded`: a step waits for those that had ended when it began. `references`: only for those it refers to.',
    ),
  includeFailed: z.boolean().default(false).describe('Also the steps whose calls failed.'),
};
const saveBody = z.strictObject({
  slug: slugText.optional().describe('Default: made from the name of the recording.'),
  name: nameText(200).optional().describe('Default: that of the recording.'),
  description: description.optional(),
  notes: changeNotes.optional(),
  ...shape,
});
const replayBody = z
  .strictObject({
    input: anyJson.optional().describe('The input of the run. Default: that of the recording.'),
    of: z
      .enum(['recording', 'saved'])
      .default('recording')
      .describe('`saved`: the definition that was stored from the recording, as it is now.'),
    dryRun: z
      .boolean()
      .optional()
      .describe('Simulates the run without effects. Recorded outputs stand in for the steps.'),
    presets: z
      .array(nameText(64))
      .optional()
      .describe('Steps that are not run: their recorded outputs stand in. Default: none, in a dry run all.'),
    timeoutMs: timeoutMsField,
    clientRequestId: clientRequestIdField,
    ...shape,
  })
  .refine((body) => body.of === 'recording' || body.dryRun !== true, {
    message: 'A dry run simulates the recording.',
    path: ['of'],
  });

type Shape = z.infer<z.ZodObject<typeof shape>>;

export const recordedDefinitionRoutes = [
  route({
    method: 'GET',
    path: '/api/recordings/:id/definition',
    role: 'viewer',
    id: 'getRecordedDefinition',
    summary: 'The recording as a definition, unchecked.',
    description: 'To look at it before it is saved. It is in the dialect mesh (001).',
    params: recordingParams,
    query: z.strictObject({
      order: z.enum(STEP_ORDERS).default('recorded').describe('What a step waits for.'),
      includeFailed: z.enum(['true', 'false']).default('false').describe('Also the steps whose calls failed.'),
    }),
    answers: { 200: { text: 'The definition.', schema: recordedDefinition } },
    problems: RECORDING_PROBLEMS,
    handle: async ({ access, principal: { organizationId }, params: { id }, query }) => {
      const view = await readRecording(access, organizationId, id);
      const wanted = { order: query.order, includeFailed: query.includeFailed === 'true' };
      return ok({ definition: documentIn(view, wanted) });
    },
  }),
  route({
    method: 'POST',
    path: '/api/recordings/:id/save',
    role: 'editor',
    id: 'saveRecording',
    summary: 'Stores the recorded steps as a definition.',
    description: 'It is checked as every definition is. The recording stays open.',
    params: recordingParams,
    headers: STORE_CONDITIONS,
    body: jsonOf(saveBody, { isOptional: true }),
    answers: STORE_ANSWERS,
    problems: [...PUT_PROBLEMS, ...RECORDING_PROBLEMS, ...CHECK_PROBLEMS, 'already_exists'],
    handle: async ({ gateway, access, principal, req, params: { id }, body }) => {
      const { organizationId, id: by } = principal;
      const view = await readRecording(access, organizationId, id);
      const { slug = slugify(body.name ?? view.name), notes } = body;
      const document = {
        ...documentIn(view, body),
        slug,
        ...omitUndefined({ name: body.name, description: body.description }),
      };
      const text = JSON.stringify(document, null, 2);
      const checked = await checkText(gateway, organizationId, text, { persons: by !== undefined, slug });
      const { hash, created, head } = await storeChecked({ access, principal, req }, checked, notes);
      await changeRecording(access, organizationId, id, 'saved', { slug, hash });
      return storedAnswer(created, head, { warnings: checked.warnings });
    },
  }),
  route({
    method: 'POST',
    path: '/api/recordings/:id/replay',
    role: 'editor',
    idempotency: 'id',
    isAudited: false,
    id: 'replayRecording',
    summary: 'Runs the recorded steps with another input; with `dryRun`, simulates them.',
    description: '`clientRequestId` works like the header Idempotency-Key.',
    params: recordingParams,
    body: jsonOf(replayBody, { isOptional: true }),
    answers: {
      201: START_ANSWERS[201],
      200: { text: 'The run that the same request started before, or the dry run.', schema: startedOrDryRun },
    },
    problems: [
      ...START_PROBLEMS,
      ...RECORDING_PROBLEMS,
      ...CHECK_PROBLEMS,
      'unknown_preset',
      'workflow_not_found',
      'version_missing',
    ],
    handle: async ({ gateway, access, principal: { organizationId, id: by }, req, params: { id }, body }) => {
      const view = await readRecording(access, organizationId, id);
      const { presets: names, timeoutMs, input: given = view.input } = body;
      const presets = await presetsOf(access, organizationId, view, names ?? (body.dryRun === true ? 'all' : []));
      if (body.dryRun === true) {
        const checked = await checkInline(gateway, organizationId, by, documentIn(view, body));
        return ok(await dryRun(gateway, checked, { input: given, presets, organizationId }));
      }
      const saved = body.of === 'saved' ? demandSaved(view) : undefined;
      const definitionRef =
        saved === undefined
          ? demandValid(await checkInline(gateway, organizationId, by, documentIn(view, body)))
          : ({ workflow: saved, as: 'shown' } as const);
      const started = await startRun(access, organizationId, {
        ...(await startKeyOf(req, body, `recording ${id}`, 'address')),
        trigger: { type: saved === undefined ? 'inline' : 'manual', metadata: { recording: id } },
        ...omitUndefined({ initiator: by }),
        run: { definitionRef, parts: bodyParts(given), at: '/input', presets, ...omitUndefined({ timeoutMs }) },
      });
      return startedAnswer(started);
    },
  }),
];

const documentIn = (view: RecordingView, { order, includeFailed }: Shape): JsonObject =>
  documentOf(view.recorded, {
    name: view.name,
    slug: slugify(view.name),
    order,
    includesFailed: includeFailed,
    ...omitUndefined({ description: view.description }),
  });

const checkInline = (gateway: Gateway, org: string, by: string | undefined, document: JsonObject): Promise<Checked> =>
  checkGiven(gateway, org, document, { inline: true, persons: by !== undefined });

/** The recorded outputs of these steps, as presets of a run. @throws HttpProblem `unknown_preset`. */
async function presetsOf(
  access: Gateway['access'],
  org: string,
  view: RecordingView,
  wanted: readonly string[] | 'all',
): Promise<{ [slug: string]: Json }> {
  const names = wanted === 'all' ? view.recorded.map(({ name }) => name) : wanted;
  const outputs = await readOutputs(access, org, view, names);
  const missing = wanted === 'all' ? [] : wanted.filter((name) => !Object.hasOwn(outputs, name));
  if (missing.length > 0)
    throw new HttpProblem('unknown_preset', `The recording has no output of "${missing[0]?.slice(0, 80)}".`, {
      problems: missing.map((name) => ({
        pointer: `/presets/${wanted.indexOf(name)}`,
        code: 'unknown_step',
        message: `No step "${name.slice(0, 80)}" has an output.`,
      })),
    });
  return Object.fromEntries(Object.entries(outputs).map(([name, data]) => [name, { data }]));
}

/** @throws HttpProblem `workflow_not_found`. */
function demandSaved({ saved }: RecordingView): string {
  if (saved !== undefined) return saved.slug;
  throw new HttpProblem('workflow_not_found', 'No definition was saved from this recording. Save it first.');
}
