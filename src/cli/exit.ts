/** Exit codes of the command (ARCHITECTURE.md §5). */
export const EXIT = {
  ok: 0,
  /** This program, or the gateway, broke. */
  broken: 1,
  /** What was given cannot be used: a file, a definition, an id, a gateway that does not answer. */
  input: 10,
  /** The command line itself. */
  flags: 20,
  /** The execution failed, or was cancelled. */
  failed: 40,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command: the message, and lines below it, go to standard error. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
  constructor(exitCode: ExitCode, message: string, lines: readonly string[] = []) {
    super(message);
    this.name = 'CliError';
    this.exitCode = exitCode;
    this.lines = lines;
  }
}

/** The gateway does not answer, or not now: whoever can wait tries again. */
export class TemporaryError extends CliError {}
