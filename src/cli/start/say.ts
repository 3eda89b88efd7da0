/** Prints a line to the terminal. Logs go to files. */
export type Say = (text: string) => void;

export const say: Say = (text) => {
  process.stdout.write(`[signalbox] ${text}\n`);
};

/** Prints a progress line every ten seconds, until the returned function is called. */
export function reportProgress(print: Say, what: string): () => void {
  const begun = Date.now();
  const ticker = setInterval(
    () => print(`${what}: still running (${Math.round((Date.now() - begun) / 1000)} s)`),
    10_000,
  );
  return () => clearInterval(ticker);
}
