/** Resume tokens (LANGUAGE.md §6). A token proves that the decider saw exactly the wait that the decision is for. */
import type { WaitingFor } from '../../contract/run/run.ts';
import { constantTimeEqual, hmacHex } from '../payloads/keys.ts';

const PREFIX = 'wrf_rt_';
const DIGITS = 24;

/**
 * `wrf_rt_` and 24 hexadecimal digits over run, path and attempt. Each attempt begins its wait again, so the beginning
 * of the wait identifies the attempt.
 */
export function resumeToken(key: Uint8Array, executionId: string, wait: Pick<WaitingFor, 'path' | 'since'>): string {
  return PREFIX + hmacHex(key, JSON.stringify([executionId, wait.path, wait.since])).slice(0, DIGITS);
}

export function isResumeToken(
  key: Uint8Array,
  executionId: string,
  wait: Pick<WaitingFor, 'path' | 'since'>,
  token: string,
): boolean {
  return constantTimeEqual(resumeToken(key, executionId, wait), token);
}
