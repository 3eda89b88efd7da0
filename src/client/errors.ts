import type { Json } from '../template/types.ts';

/**
 * What went wrong between here and Temporal, or was refused by an actor or a run. `code` is stable; the message is a
 * sentence for the caller, with a next step.
 *
 * Codes of this folder: `temporal_unreachable`, `outcome_unknown`, `not_found`, `closed`, `hash_mismatch`,
 * `already_exists`, `workflow_disabled`, `idempotency_conflict`, `payload_too_large`, `invalid_cursor`,
 * `resume_token_mismatch`, `too_many_unread`, `no_worker`, `secret_not_found`, `secret_not_allowed`,
 * `secret_unreadable`, `secret_too_short`, `model_not_found`, `mcp_server_not_found`, `mcp_server_failed`, `blob_unavailable`; and those of Refusal (src/definition/run.ts) and of the actors (src/definition/actors.ts).
 */
export class ClientError extends Error {
  readonly code: string;
  readonly details: Json | undefined;
  constructor(code: string, message: string, options: { details?: Json; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ClientError';
    this.code = code;
    this.details = options.details;
  }
}

export const hasCode = (error: unknown, ...codes: readonly string[]): error is ClientError =>
  error instanceof ClientError && codes.includes(error.code);
