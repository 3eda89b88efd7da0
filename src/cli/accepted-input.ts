/** Validates the input of a dry run as the gateway does. */

import type { Definition } from '../definition/document/types.ts';
import { validatePayload, withDefaults } from '../definition/payload/format.ts';
import type { Json } from '../json/json.ts';
import { CliError, EXIT } from './exit.ts';
import { problemLine } from './problem-lines.ts';

/** The input with the defaults of its format. @throws CliError if it does not match the format */
export function acceptedInput(definition: Definition, given: Json): Json {
  if (definition.input === undefined) return given;
  const input = withDefaults(definition.input, given);
  const problems = validatePayload(definition.input, input);
  if (problems.length === 0) return input;
  throw new CliError(
    EXIT.input,
    `The input does not match the input format of ${definition.slug}. Pass it with --input.`,
    problems.map((problem) => problemLine('error', problem)),
  );
}
