/** Rows of the bench: a value, what it aims at, and whether it gets there. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly aim: { readonly most: number } | { readonly least: number };
  readonly unit: string;
}

export function passes({ value, aim }: Row): boolean {
  return 'most' in aim ? value <= aim.most : value >= aim.least;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * The median ratio of two ways to do the same, measured in turn, A B B A …, so that a machine whose speed drifts is fair
 * to both. One pair first is not counted. Each way answers what it cost.
 */
export async function paired(pairs: number, a: () => Promise<number>, b: () => Promise<number>): Promise<number> {
  const ratios: number[] = [];
  for (let pair = -1; pair < pairs; pair++) {
    const swapped = pair % 2 === 0;
    const first = await (swapped ? b() : a());
    const second = await (swapped ? a() : b());
    if (pair >= 0) ratios.push(swapped ? second / first : first / second);
  }
  return median(ratios);
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    row.name,
    `${row.value >= 1_000 ? Math.round(row.value).toLocaleString('en') : row.value.toFixed(3)}${row.unit}`,
    'most' in row.aim ? `≤ ${row.aim.most}` : `≥ ${row.aim.least}`,
    passes(row) ? 'yes' : 'NO',
  ]);
  const all = [['row', 'value', 'aim', 'reached'], ...lines];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((line) => line[column]!.length)));
  return all.map((line) => line.map((cell, i) => (i < 3 ? cell.padEnd(widths[i]!) : cell)).join('  ')).join('\n');
}
