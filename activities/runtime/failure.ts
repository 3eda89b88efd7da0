import type { Json } from '../../src/json/json.ts';

/** A typed error of an activity. Messages name members of the config but never their values, which may hold secrets. */
export class ActivityError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly details: Json | undefined;
  /** How long the other side asked to wait before the next attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    options: { readonly retryable?: boolean; readonly details?: Json; readonly retryAfterMs?: number } = {},
  ) {
    super(message);
    this.name = 'ActivityError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** `invalid_config`: `member` is the wrong member, `expected` completes "must be …". */
export function invalidConfig(member: string, expected: string): ActivityError {
  return new ActivityError('invalid_config', `config.${member} must be ${expected}.`);
}
