/** What a signal has to hold so that it is heeded: asked of the core, so that hints hold true. */
import { sampleOf } from '../../src/definition/payload/format-sample.ts';
import { admit } from '../../src/engine/advance.ts';
import { waitingFor } from '../../src/engine/inbound/view.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import type { Program } from '../../src/steps/program-types.ts';

const COMMENTS = { comments: '<why>' };
const OVERRIDE = { override: true, reason: '<why>' };
const MEMBERS: readonly object[] = [{}, COMMENTS, OVERRIDE, { ...OVERRIDE, ...COMMENTS }];

/**
 * Members of `approve` beside `step`: the fewest that would be heeded. Where a form is filled in they hold an example of its
 * data, whose values are left to who fills it in.
 */
export function approvalAnswer(program: Program, state: RunState, path: string): object {
  const heeds = (members: object): boolean => {
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
  return (form === undefined ? [...MEMBERS, ...withData] : withData).find(heeds) ?? { data };
}
