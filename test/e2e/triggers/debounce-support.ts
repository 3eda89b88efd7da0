// What the tests of debouncing share.
import { expect } from 'vitest';
import { debounceId } from '../../../src/client/temporal/ids.ts';
import type { TestGateway } from '../gateway/gateway-support.ts';

/** What has held payloads of the key for the trigger, or for the workflow where it has none. */
const holder = ({ server }: TestGateway, trigger: string, key = '') =>
  server.client.workflow.getHandle(debounceId('default', trigger, key));

/** Waits until nothing is held, and names the one that held last. Whatever is held later has another. */
export async function lastHeld(...held: Parameters<typeof holder>): Promise<string> {
  const handle = holder(...held);
  await handle.result();
  return (await handle.describe()).runId;
}

/** Waits until the run of what is held was refused, and is tried again. */
export async function untilRefused(...held: Parameters<typeof holder>): Promise<void> {
  const attempts = async () => (await holder(...held).describe()).raw.pendingActivities?.[0]?.attempt ?? 0;
  await expect.poll(attempts).toBeGreaterThan(1);
}
