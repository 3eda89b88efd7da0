/** How activities read definitions and child runs. */
import type { DescribedChildren, OpenChild } from '../../src/contract/run/children.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import type { Json } from '../../src/json/json.ts';

/** Throws errors with a `code` if a retry does not help: `workflow_not_found`, `workflow_disabled`, … */
export interface RunReader {
  resolve(
    organizationId: string,
    wanted: { readonly workflow: string; readonly version?: string; readonly employee?: boolean },
  ): Promise<{ readonly definition: Definition; readonly hash: string }>;
  /** The input with the defaults of its format. Throws `invalid_input` with `details` where it does not fit. */
  accept(definition: Definition, input: Json): Json;
  describeChildren(organizationId: string, children: readonly OpenChild[]): Promise<DescribedChildren>;
}
