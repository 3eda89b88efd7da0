import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Rows of the bench: a value, what it aims at, and whether it gets there. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly aim: { readonly most: number } | { readonly least: number };
  readonly unit: string;
}

/** Hands rows to deploy/bench.mjs, which prints those of all files: a file of the folder that it named. */
export function handOver(part: string, rows: readonly Row[]): void {
  const folder = process.env['SIGNALBOX_BENCH_OUT'];
  if (folder !== undefined) writeFileSync(join(folder, `${part}.json`), JSON.stringify(rows));
}

/** Absolute figures of one run on one machine, for the table and the chart of the manual. */
export interface Figures {
  readonly contenders: readonly { readonly name: string; readonly settings: string }[];
  readonly works: readonly {
    readonly name: string;
    readonly unit: string;
    readonly isRate?: true;
    /** By the name of the contender. */
    readonly values: { readonly [contender: string]: number };
  }[];
}

export function handOverFigures(figures: Figures): void {
  const folder = process.env['SIGNALBOX_BENCH_OUT'];
  if (folder !== undefined) writeFileSync(join(folder, 'figures.json'), JSON.stringify(figures));
}

/** Whether a row is wanted: SIGNALBOX_BENCH_ONLY, a part of its name. */
export function only(name: string): boolean {
  const wanted = process.env['SIGNALBOX_BENCH_ONLY'];
  return wanted === undefined || name.includes(wanted);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * The median cost ratio of two implementations, measured alternately (A B B A …), so that a drifting machine affects
 * both equally. The first pair does not count. Each function resolves to its cost.
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
