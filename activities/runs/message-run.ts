/** The activity `messageRun`: sends a message to a run of the same organization. */
import { isObject, type Json } from '../../src/json/json.ts';
import { ActivityError, codeIn, invalidConfig, requireService, transientError } from '../runtime/failure.ts';
import type { ActivityHandler } from '../runtime/wrap-activity.ts';

/**
 * Sends messages to runs. Throws errors with a `code`: `not_found`, `closed`, `inbox_overflow`, `payload_too_large`.
 */
export interface RunMessenger {
  /** Idempotent by `id`. */
  send(
    organizationId: string,
    executionId: string,
    message: { readonly name: string; readonly payload: Json; readonly id: string },
  ): Promise<void>;
}

/** Codes that a retry does not change. */
const PERMANENT_CODES: ReadonlySet<string> = new Set(['not_found', 'closed', 'payload_too_large']);

/** Config `{executionId, name, payload}`; data `{executionId}`. All attempts together send one message. */
export function messageRunActivity(messenger: RunMessenger | undefined): ActivityHandler {
  return async (config, { input }) => {
    const { executionId, name, payload = null } = isObject(config) ? config : {};
    if (typeof executionId !== 'string' || executionId === '') throw invalidConfig('to', 'a run');
    if (typeof name !== 'string' || name === '') throw invalidConfig('name', 'a text');
    const runMessenger = requireService(messenger, { code: 'runs_unavailable', lacking: 'cannot reach runs' });
    try {
      await runMessenger.send(input.execution.organizationId, executionId, { name, payload, id: input.idempotencyKey });
    } catch (error) {
      const code = codeIn(error);
      if (code !== undefined && PERMANENT_CODES.has(code))
        throw new ActivityError(code === 'not_found' ? 'recipient_not_found' : code, (error as Error).message);
      if (code === 'inbox_overflow') throw transientError(code, (error as Error).message);
      throw transientError('recipient_unavailable', 'The run could not be reached.');
    }
    return { data: { executionId } };
  };
}
