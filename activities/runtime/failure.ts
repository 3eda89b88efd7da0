import type { Json } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';

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

/** An error after which the next attempt may succeed. */
export const transientError = (code: string, message: string, details?: Json): ActivityError =>
  new ActivityError(code, message, { retryable: true, ...omitUndefined({ details }) });

/** `invalid_config`: `member` is the wrong member, `expected` completes "must be …". */
export function invalidConfig(member: string, expected: string): ActivityError {
  return new ActivityError('invalid_config', `config.${member} must be ${expected}.`);
}

/** Something that a worker has with its master key only, as the `reader` of models. */
export interface WorkerService {
  /** The code where the worker does not have it, and where it fails. */
  readonly code: string;
  /** Completes "This worker …". */
  readonly lacking: string;
  readonly failed: string;
  /** Codes of its errors that a retry does not change. */
  readonly final: readonly string[];
}

/** @throws ActivityError with the code of `service`, retryable where it failed, or with one of its `final` codes */
export async function callService<T, Answer>(
  part: T | undefined,
  service: WorkerService,
  act: (part: T) => Promise<Answer>,
): Promise<Answer> {
  const given = requireService(part, service);
  try {
    return await act(given);
  } catch (error) {
    const code = codeIn(error);
    if (code !== undefined && service.final.includes(code)) throw new ActivityError(code, (error as Error).message);
    throw transientError(service.code, service.failed);
  }
}

export function requireService<T>(part: T | undefined, { code, lacking }: Pick<WorkerService, 'code' | 'lacking'>): T {
  if (part === undefined) throw new ActivityError(code, `This worker ${lacking}. Start it with the master key.`);
  return part;
}

/** The `code` of an error. */
export function codeIn(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
