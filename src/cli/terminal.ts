/** Where a command reads from and writes to: the process, or a test. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  /** A line on standard output: the answer. */
  out(text: string): void;
  /** A line on standard error: whatever is about the answer. */
  err(text: string): void;
  /** Standard input, to its end. */
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
