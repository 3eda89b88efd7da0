import type { Json } from '../../src/json/json.ts';

/** What an effect fails with. Messages name members of the config, never their values: those may hold secrets. */
export class ActivityError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly details: Json | undefined;
  /** The other side asked to be left alone for so long. */
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

/** A config that cannot be taken: `member` is what is wrong with it, `expected` completes "must be …". */
export function invalidConfig(member: string, expected: string): ActivityError {
  return new ActivityError('invalid_config', `config.${member} must be ${expected}.`);
}
