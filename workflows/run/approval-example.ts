/** An example of the signal `approve` for an approval that waits. The core is asked, so the example is accepted. */
import { sampleOf } from '../../src/definition/payload/format-sample.ts';
import { admit } from '../../src/engine/advance.ts';
import { waitingFor } from '../../src/engine/inbound/view.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import type { Program } from '../../src/steps/program-types.ts';

const COMMENTS = { comments: '<why>' };
const OVERRIDE = { override: true, reason: '<why>' };
const MEMBERS: readonly object[] = [{}, COMMENTS, OVERRIDE, { ...OVERRIDE, ...COMMENTS }];

/**
 * Members of `approve` beside `step`: the fewest that the run accepts. For an approval with a form they contain an
 * example of its data; a person replaces the values.
 */
export function approvalAnswer(program: Program, state: RunState, path: string): object {
  const accepts = (members: object): boolean => {
    const answer = admit(program, state, {
      type: 'decide',
      at: state.now,
      step: path,
      decision: 'approved',
      via: 'temporal',
      ...members,
    });
    return 'accepted' in answer;
  };
  const { form } = waitingFor(state).find((wait) => wait.path === path) ?? {};
  const data = form === undefined ? {} : sampleOf(form);
  const withData = MEMBERS.map((members) => ({ ...members, data }));
  return (form === undefined ? [...MEMBERS, ...withData] : withData).find(accepts) ?? { data };
}
