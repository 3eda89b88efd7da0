/** Tests the payloads of a message that the SDK's visitor would transform, without a visit. */
import type { Payload } from '@temporalio/common';
import type { VisitOptions, WalkEnv } from './sdk.ts';

/** One of the SDK's functions that walk a message. Each calls the transforms and puts what they resolve to in place. */
export type Walk<Root, Context> = (root: Root, env: WalkEnv<Context>, context: Context) => Promise<unknown>[];

export type PayloadTest = (payload: Payload) => boolean;

/** Stands for the promise of a payload. It never resolves, so that a walk changes nothing. */
// biome-ignore lint/suspicious/noThenProperty: a walk calls it, and nothing awaits it
const NOOP_PROMISE = { then: () => NOOP_PROMISE } as unknown as Promise<never>;

/** Whether the test holds for each payload that the SDK's `visit` with these options would transform. */
export function everyPayload<Root, Context>(
  root: Root,
  walk: Walk<Root, Context>,
  { skipHeaders = false, skipSearchAttributes = false, initialContext }: Partial<VisitOptions<Context>>,
  test: PayloadTest,
): boolean {
  let all = true;
  const check = (payloads: readonly Payload[]): Promise<never> => {
    all &&= payloads.every(test);
    return NOOP_PROMISE;
  };
  const env = { transformPayload: (one: Payload) => check([one]), transformPayloads: check };
  walk(root, { ...env, skipHeaders, skipSearchAttributes }, initialContext as Context);
  return all;
}
