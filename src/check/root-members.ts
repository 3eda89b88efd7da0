/** The members of the roots that the engine makes, where LANGUAGE.md §3 fixes them. */
import { didYouMean } from '../definition/document/names.ts';
import type { Findings } from './subject.ts';

/** What a value has: fixed members, or any JSON (`any`), of which nothing is known here. */
type Members = { readonly [member: string]: Members | 'any' };

const any = 'any';

/** loop-state.ts makes it. The loop around it has the same members. */
const LOOP: Members = {
  item: any,
  index: any,
  items: any,
  batch: { index: any, size: any, items: any, startIndex: any, endIndex: any },
  state: { currentIndex: any, totalItems: any, iterations: any, batchesProcessed: any, isComplete: any },
  carry: any,
  get parent() {
    return LOOP;
  },
};

const MEMBERS: Members = {
  loop: LOOP,
  execution: {
    id: any,
    path: any,
    workflow: any,
    version: any,
    hash: any,
    startedAt: any,
    parentId: any,
    trigger: { type: any, id: any, metadata: any },
  },
  error: {
    code: any,
    message: any,
    path: any,
    step: any,
    stepSlug: any,
    attempts: any,
    retryable: any,
    details: any,
  },
};

/** Warns of a member that a root never has; it would be null in silence. `at`: the JSON Pointer of the template. */
export function unknownRootMember(
  { root, path, at, column }: { root: string; path: readonly (string | number)[]; at: string; column: number },
  { warnings }: Findings,
): void {
  let members = Object.hasOwn(MEMBERS, root) ? MEMBERS[root] : undefined;
  let name = root;
  for (const member of path) {
    if (members === undefined || members === any || typeof member !== 'string') return;
    if (!Object.hasOwn(members, member)) {
      const message = `Column ${column}: ${name} has no member "${member.slice(0, 80)}".`;
      warnings.add(at, 'unknown_root_member', message, didYouMean(member, Object.keys(members)));
      return;
    }
    members = members[member];
    name = `${name}.${member}`;
  }
}
