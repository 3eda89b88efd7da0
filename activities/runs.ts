/** What activities need to know of other definitions and runs, and of this host's own address. */
import type { DescribedChildren, OpenChild } from '../src/contract/children.ts';
import type { Definition } from '../src/definition/document/types.ts';

/** Throws an error with a `code` for what trying again does not change: `workflow_not_found`, `workflow_disabled`, … */
export interface RunReader {
  resolve(
    organizationId: string,
    wanted: { readonly workflow: string; readonly version?: string; readonly employee?: boolean },
  ): Promise<{ readonly definition: Definition; readonly hash: string }>;
  describeChildren(organizationId: string, children: readonly OpenChild[]): Promise<DescribedChildren>;
}

/** The URL of a visit of a wait_callback step; undefined where this host does not know its own address. */
export type CallbackUrl = (place: {
  readonly executionId: string;
  readonly path: string;
  readonly slug: string;
}) => string | undefined;
