/** What activities need to know of other definitions and runs, and of this host's own address. */
import type { DescribedChildren, OpenChild } from '../../src/contract/children.ts';
import type { Definition } from '../../src/definition/document/types.ts';

/** Throws an error with a `code` for what trying again does not change: `workflow_not_found`, `workflow_disabled`, … */
export interface RunReader {
  resolve(
    organizationId: string,
    wanted: { readonly workflow: string; readonly version?: string; readonly employee?: boolean },
  ): Promise<{ readonly definition: Definition; readonly hash: string }>;
  describeChildren(organizationId: string, children: readonly OpenChild[]): Promise<DescribedChildren>;
}
