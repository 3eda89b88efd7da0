/** The input of a run that is walked here, held to what the definition declares, as the gateway holds it. */

import type { Definition } from '../definition/document/types.ts';
import { validatePayload, withDefaults } from '../definition/payload/format.ts';
import type { Json } from '../json/json.ts';
import { CliError, EXIT } from './exit.ts';
import { problemLine } from './problem-lines.ts';

/** The input with the defaults of its format. @throws CliError where it is not what is declared. */
export function acceptedInput(definition: Definition, given: Json): Json {
  if (definition.input === undefined) return given;
  const input = withDefaults(definition.input, given);
  const problems = validatePayload(definition.input, input);
  if (problems.length === 0) return input;
  throw new CliError(
    EXIT.input,
    `The input is not what ${definition.slug} declares. Give it with --input.`,
    problems.map((problem) => problemLine('error', problem)),
  );
}
