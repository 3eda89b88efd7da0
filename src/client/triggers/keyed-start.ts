/**
 * Starts of runs whose key is the caller's at one address, whatever workflow the body names. The id that a key makes is of
 * one workflow, so the key is claimed as that of a request is (requests.ts) while the run is started.
 */

import { hasCode } from '../errors.ts';
import type { StartedRun } from '../runs/run-start.ts';
import type { Access } from '../temporal/access.ts';
import { claimRequest, type KeyedRequest, letGo } from './requests.ts';

/**
 * Does `start`, which starts one run with the key however often it is done; what is refused leaves the key free.
 * @throws ClientError `idempotency_conflict` (the key was used with other content), and what `start` throws.
 */
export async function startForKey(
  access: Access,
  org: string,
  request: KeyedRequest,
  start: () => Promise<StartedRun>,
): Promise<StartedRun> {
  const claimed = await claimRequest(access, org, request, 0).catch((error: unknown) => {
    // It has the same content, so whoever is first starts it for both.
    if (hasCode(error, 'request_in_flight')) return undefined;
    throw error;
  });
  if (claimed === undefined || 'status' in claimed) return start();
  try {
    const started = await start();
    await claimed.answer({ status: 201, headers: {}, body: JSON.stringify(started) });
    return started;
  } catch (error) {
    await letGo(claimed, error);
    throw error;
  }
}
