/** A line for whoever watches the terminal; logs go elsewhere. */
export type Say = (text: string) => void;

export const say: Say = (text) => {
  process.stdout.write(`[signalbox] ${text}\n`);
};

/** Repeats a line with the seconds so far every ten seconds, until the function that it returns is called. */
export function reportProgress(tell: Say, what: string): () => void {
  const begun = Date.now();
  const ticker = setInterval(() => tell(`${what}: still at it (${Math.round((Date.now() - begun) / 1000)} s)`), 10_000);
  return () => clearInterval(ticker);
}
