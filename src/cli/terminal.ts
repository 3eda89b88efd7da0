import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** Input and output of a command: those of the process, or of a test. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  /** Whether a person can be asked: standard input and standard error are terminals. */
  readonly isInteractive: boolean;
  /** Whether standard output shows colors. */
  readonly hasColors: boolean;
  /** Writes a line to standard output: the result. */
  out(text: string): void;
  /** Writes a line to standard error: everything else. */
  err(text: string): void;
  /** Reads standard input to its end. */
  input(): Promise<string>;
  /**
   * Asks the person for one line. Hidden: what is typed is not shown.
   * @returns undefined if the person pressed Ctrl-C or Ctrl-D
   */
  ask(question: string, options?: { readonly isHidden?: boolean }): Promise<string | undefined>;
}

export const processTerminal: Terminal = {
  env: process.env,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  // https://no-color.org
  hasColors: process.stdout.isTTY === true && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb',
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
  ask: async (question, { isHidden = false } = {}) => {
    const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
    // From here on the terminal itself shows nothing that is typed.
    const lines = createInterface({ input: process.stdin, output, terminal: true, historySize: 0, prompt: question });
    if (isHidden) process.stderr.write(question);
    else lines.prompt();
    const answer = await new Promise<string | undefined>((resolve) => {
      lines.once('line', resolve).once('SIGINT', () => resolve(undefined));
      lines.once('close', () => resolve(undefined));
    });
    lines.close();
    if (isHidden || answer === undefined) process.stderr.write('\n');
    return answer;
  },
};
