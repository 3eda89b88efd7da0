import type { Json } from '../json/json.ts';

/**
 * A failure between this process and Temporal, or a refusal by an actor or a run. `code` is stable and listed in
 * src/gateway/validation/problem-codes.ts. The message is a sentence for the caller, with a next step.
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

/** For `catch`: answers in place of an error with the code, or one of the codes. Any other error is thrown. */
export const onCode =
  <Answer>(codes: string | readonly string[], answer: (error: ClientError) => Answer) =>
  (error: unknown): Answer => {
    if (!hasCode(error, ...[codes].flat())) throw error;
    return answer(error);
  };

/** For `catch`: throws another error in place of one with the code. Any other error is thrown as it is. */
export const rethrowAs =
  (code: string, other: (error: ClientError) => ClientError | Promise<ClientError>) =>
  async (error: unknown): Promise<never> => {
    throw hasCode(error, code) ? await other(error) : error;
  };
