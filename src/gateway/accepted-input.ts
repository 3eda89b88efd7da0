/** The input of a run, however it was asked for: held against the definition's format before anything starts. */
import { validatePayload, withDefaults } from '../definition/format.ts';
import type { Definition } from '../definition/types.ts';
import type { Json } from '../template/types.ts';
import { HttpProblem } from './problem.ts';

/**
 * The input with the defaults of its format.
 * @throws HttpProblem `invalid_input` where it is not what the definition declares.
 */
export function acceptedInput(definition: Definition, given: Json): Json {
  if (definition.input === undefined) return given;
  const input = withDefaults(definition.input, given);
  const problems = validatePayload(definition.input, input);
  const [first] = problems;
  if (first === undefined) return input;
  throw new HttpProblem(
    'invalid_input',
    `The input is not what workflow ${definition.slug} declares: ${first.message} (${first.pointer || '/'}).`,
    { problems },
  );
}
