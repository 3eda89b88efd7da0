/** How activities read definitions and child runs. */
import type { DescribedChildren, OpenChild } from '../../src/contract/children.ts';
import type { Definition } from '../../src/definition/document/types.ts';

/** Throws errors with a `code` if a retry does not help: `workflow_not_found`, `workflow_disabled`, … */
export interface RunReader {
  resolve(
    organizationId: string,
    wanted: { readonly workflow: string; readonly version?: string; readonly employee?: boolean },
  ): Promise<{ readonly definition: Definition; readonly hash: string }>;
  describeChildren(organizationId: string, children: readonly OpenChild[]): Promise<DescribedChildren>;
}
