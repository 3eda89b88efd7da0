/** What a signal has to hold so that it is heeded: asked of the core, so that hints hold true. */
import { admit } from '../src/engine/advance.ts';
import type { RunState } from '../src/engine/state.ts';
import type { Program } from '../src/steps/program-types.ts';

const COMMENTS = { comments: '<why>' };
const OVERRIDE = { override: true, reason: '<why>' };
const MEMBERS: readonly object[] = [{}, COMMENTS, OVERRIDE, { ...OVERRIDE, ...COMMENTS }];

/** Members of `approve` beside `step`: the fewest that would be heeded, and what a form asks for is left to who fills it in. */
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
  return [...MEMBERS, ...MEMBERS.map((members) => ({ ...members, data: {} }))].find(heeds) ?? { data: {} };
}
