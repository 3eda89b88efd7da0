/** What the bodies of requests that start a run have in common. */

import { z } from 'zod';
import type { Json } from '../../json/json.ts';
import { anyJson, nameText } from '../validation/validation.ts';

/** In place of the header Idempotency-Key (client/starts/start.ts says what a key does). */
export const clientRequestIdField = nameText(200)
  .optional()
  .describe('A request that repeats the id gets the same run.');

export const presetsField = z
  .record(nameText(64), anyJson)
  .optional()
  .describe(
    'Outputs in place of running steps: slug → data, {data, port?, meta?}, or {error}. Each slug must be a step.',
  );

export const stateField = z.record(nameText(200), anyJson).optional().describe('Initial values of the declared state.');

interface EitherInput {
  readonly input?: Json | undefined;
  readonly variables?: Json | undefined;
}

export const variablesField = anyJson.optional().describe('Another name of input.');

/** For `refine`. */
export const INPUT_OR_VARIABLES = [
  (body: EitherInput): boolean => body.input === undefined || body.variables === undefined,
  'Give `input` or `variables`, not both: they mean the same.',
] as const;

/** The input under either name. Default: an empty object; null is a value. */
export function givenInput({ input, variables }: EitherInput): [at: string, input: Json] {
  if (variables !== undefined) return ['/variables', variables];
  return ['/input', input === undefined ? {} : input];
}
