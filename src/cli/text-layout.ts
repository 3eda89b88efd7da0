/** Tables, durations, and JSON on one line. */
import type { Json } from '../json/json.ts';

/** Columns are as wide as their widest cell and two spaces apart; empty columns are omitted. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const columns = head.map((_, n) => n).filter((n) => rows.some((row) => (row[n] ?? '') !== ''));
  const widths = new Map(
    columns.map((n) => [n, Math.max(...[head, ...rows].map((row) => (row[n] ?? '').length))] as const),
  );
  const line = (row: readonly string[]) =>
    columns
      .map((n) => (row[n] ?? '').padEnd(widths.get(n) ?? 0))
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)];
}

/** A line for each fact that there is. */
export const factLines = (facts: readonly (readonly [name: string, value: string | undefined])[]): string[] =>
  facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(8)}  ${value}`]));

/** A value on one line of at most `width` characters. */
export function oneLine(value: Json | undefined, width = 120): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return truncateText(text.replaceAll(/\s+/g, ' '), width);
}

export function truncateText(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

export const formatJson = (value: unknown): string => JSON.stringify(value, null, 2);

/** The duration between two ISO 8601 times: `412 ms`, `3.2 s`, `5 min`, `2.5 h`, `3.1 d`. */
export function durationText(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ] as const;
  for (const [size, unit] of units) if (ms >= size) return `${Number((ms / size).toFixed(1))} ${unit}`;
  return `${ms} ms`;
}
