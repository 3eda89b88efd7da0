/** Schemas of answers about recordings. Later versions may add members to any of them. */
import { z } from 'zod';
import { STEP_STATES } from '../../contract/definitions/recording.ts';
import { anyObject, anything, named, pageWithUnread, text, time } from './named.ts';

const summary = {
  id: text,
  name: text,
  description: text.optional(),
  by: text.optional().describe('The person who began it.'),
  createdAt: time,
  updatedAt: time,
  expiresAt: time.describe('When it expires if nothing comes. ISO 8601.'),
  steps: z.int().describe('How many.'),
  saved: z
    .object({ slug: text, hash: text, at: time })
    .optional()
    .describe('The definition that was stored last from this recording.'),
};

export const recordedStep = named(
  'RecordedStep',
  z.object({
    name: text.describe('Other steps refer to its output as `@name`.'),
    status: z.enum(STEP_STATES).describe('`open`: written by hand, without an output.'),
    step: anyObject.describe('The step in the dialect mesh (001), with its references.'),
    output: anything.optional(),
    outputBytes: z.int().optional().describe('The size of an output that is left out here. Read the step by its name.'),
    isPreset: z.boolean().optional().describe('The output was set by hand.'),
    error: z.object({ code: text, message: text }).optional(),
    by: text.optional(),
    startedAt: time,
    completedAt: time.optional(),
  }),
);

export const recordingPage = named('RecordingPage', pageWithUnread(z.object(summary), { id: text }));
const open = { ...summary, mcpUrl: text.describe('The address for MCP clients. What they call is recorded.') };
export const madeRecording = named('MadeRecording', z.object(open));
export const recordingView = named(
  'RecordingView',
  z.object({
    ...open,
    input: anything.describe('What `@input` refers to while recording.'),
    recorded: z.array(recordedStep),
  }),
);
export const suggestions = named(
  'Suggestions',
  z.object({
    items: z.array(
      z.object({
        step: text,
        pointer: text.describe('JSON pointer into the input of the step.'),
        value: anything,
        reference: text,
        form: z.enum(['whole', 'within']).describe('`within`: the reference replaces a part of the text.'),
        written: text.describe('The value with the reference in it.'),
        alternatives: z.array(text).optional().describe('Other references with the same value.'),
      }),
    ),
  }),
);
export const nameOfStep = named('NameOfStep', z.object({ name: text }));
export const confirmedCount = named('ConfirmedReferences', z.object({ confirmed: z.int() }));
export const recordedDefinition = named(
  'RecordedDefinition',
  z.object({ definition: anyObject.describe('In the dialect mesh (001).') }),
);
