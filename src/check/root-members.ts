/** The members of the roots that the engine makes, where LANGUAGE.md §3 fixes them. */
import { didYouMean } from '../definition/document/names.ts';
import type { Findings } from './analysis.ts';

/** What a value has: fixed members, or any JSON (`ANY`), of which nothing is known here. */
type Members = { readonly [member: string]: Members | 'any' };

const ANY = 'any';

/** loop-state.ts makes it. The loop around it has the same members. */
const LOOP_MEMBERS: Members = {
  item: ANY,
  index: ANY,
  items: ANY,
  batch: { index: ANY, size: ANY, items: ANY, startIndex: ANY, endIndex: ANY },
  state: { currentIndex: ANY, totalItems: ANY, iterations: ANY, batchesProcessed: ANY, isComplete: ANY },
  carry: ANY,
  get parent() {
    return LOOP_MEMBERS;
  },
};

const ROOT_MEMBERS: Members = {
  loop: LOOP_MEMBERS,
  execution: {
    id: ANY,
    path: ANY,
    workflow: ANY,
    version: ANY,
    hash: ANY,
    startedAt: ANY,
    parentId: ANY,
    trigger: { type: ANY, id: ANY, metadata: ANY },
  },
  error: {
    code: ANY,
    message: ANY,
    path: ANY,
    step: ANY,
    stepSlug: ANY,
    attempts: ANY,
    retryable: ANY,
    details: ANY,
  },
};

/** Warns of a member that a root never has; it would be null in silence. `at`: the JSON Pointer of the template. */
export function checkRootMember(
  { root, path, at, column }: { root: string; path: readonly (string | number)[]; at: string; column: number },
  { warnings }: Findings,
): void {
  let members = Object.hasOwn(ROOT_MEMBERS, root) ? ROOT_MEMBERS[root] : undefined;
  let name = root;
  for (const member of path) {
    if (members === undefined || members === ANY || typeof member !== 'string') return;
    if (!Object.hasOwn(members, member)) {
      const message = `Column ${column}: ${name} has no member "${member.slice(0, 80)}".`;
      warnings.add(at, 'unknown_root_member', message, didYouMean(member, Object.keys(members)));
      return;
    }
    members = members[member];
    name = `${name}.${member}`;
  }
}
