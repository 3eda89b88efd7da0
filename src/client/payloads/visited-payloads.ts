/** The payloads that the SDK's visits of a message would transform, without a visit. */
import type { Payload } from '@temporalio/common';
import type { VisitOptions, WalkEnv } from '@temporalio/common/lib/internal-non-workflow/payload-visitor.js';

/** One of the SDK's functions that walk a message. Each calls the transforms and puts what they resolve to in place. */
export type Walk<Root, Context> = (root: Root, env: WalkEnv<Context>, context: Context) => Promise<unknown>[];

export type PayloadTest = (payload: Payload) => boolean;

/** In place of the promise of a payload, so that a walk changes nothing. */
// biome-ignore lint/suspicious/noThenProperty: a walk calls it, and nothing awaits it
const NOTHING = { then: () => NOTHING } as unknown as Promise<never>;

/** Whether the test holds for each payload that the SDK's `visit` with these options would transform. */
export function holdsForAll<Root, Context>(
  root: Root,
  walk: Walk<Root, Context>,
  { skipHeaders = false, skipSearchAttributes = false, initialContext }: Partial<VisitOptions<Context>>,
  test: PayloadTest,
): boolean {
  let all = true;
  const look = (payloads: readonly Payload[]): Promise<never> => {
    all &&= payloads.every(test);
    return NOTHING;
  };
  const env = { transformPayload: (one: Payload) => look([one]), transformPayloads: look };
  walk(root, { ...env, skipHeaders, skipSearchAttributes }, initialContext as Context);
  return all;
}
