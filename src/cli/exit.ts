/** Exit codes (ARCHITECTURE.md §5). */
export const EXIT = {
  ok: 0,
  /** An internal error of this program or of the gateway. */
  internal: 1,
  /** Invalid input: a file, a definition, an id; or no gateway answers. */
  input: 10,
  /** An invalid command line. */
  usage: 20,
  /** `workflows diff --exit-code` found differences. */
  differs: 30,
  /** The execution failed or was cancelled. */
  failed: 40,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command. The message and the lines go to standard error. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
  /** The code of the gateway's problem, such as `not_found`. */
  readonly code: string | undefined;
  constructor(exitCode: ExitCode, message: string, lines: readonly string[] = [], code?: string) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.lines = lines;
    this.code = code;
  }
}

/** The gateway is not available now; a later attempt may succeed. */
export class RetryableCliError extends CliError {}
