/** Input and output of a command: those of the process, or of a test. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  /** Writes a line to standard output: the result. */
  out(text: string): void;
  /** Writes a line to standard error: everything else. */
  err(text: string): void;
  /** Reads standard input to its end. */
  input(): Promise<string>;
}

export const processTerminal: Terminal = {
  env: process.env,
  out: (text) => {
    process.stdout.write(`${text}\n`);
  },
  err: (text) => {
    process.stderr.write(`${text}\n`);
  },
  input: async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
    return Buffer.concat(chunks).toString('utf8');
  },
};
