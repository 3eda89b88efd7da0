/** Two texts side by side: what a unified diff says, as rows. Pure. */
import { textDiff } from '../../definition/document/text-diff.ts';

/** A line of one side, or none beside a line that the other side alone has. */
export interface Side {
  readonly number: number;
  readonly text: string;
}

export type Row =
  | { readonly kind: 'same' | 'changed'; readonly before: Side | undefined; readonly after: Side | undefined }
  /** Lines that are equal and left out. */
  | { readonly kind: 'gap'; readonly count: number };

/** The rows of two texts; none where they are equal. */
export function sidesOf(before: string, after: string): Row[] {
  return rowsIn(textDiff(before, after, { before: 'before', after: 'after' }));
}

const HUNK = /^@@ -(\d+),\d+ \+(\d+),\d+ @@$/;

/** The rows of a unified diff. Removed lines stand beside those that were added in their place. */
export function rowsIn(diff: string): Row[] {
  const rows: Row[] = [];
  let [old, fresh] = [1, 1];
  let [removed, added]: [Side[], Side[]] = [[], []];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      rows.push({ kind: 'changed', before: removed[at], after: added[at] });
    [removed, added] = [[], []];
  };
  // The first two lines name the sides.
  for (const line of diff === '' ? [] : diff.split('\n').slice(2)) {
    const hunk = HUNK.exec(line);
    const text = line.slice(1);
    if (hunk !== null) {
      flush();
      const count = Number(hunk[1]) - old;
      if (count > 0) rows.push({ kind: 'gap', count });
      [old, fresh] = [Number(hunk[1]), Number(hunk[2])];
    } else if (line.startsWith('-')) removed.push({ number: old++, text });
    else if (line.startsWith('+')) added.push({ number: fresh++, text });
    else {
      flush();
      if (line.startsWith(' '))
        rows.push({ kind: 'same', before: { number: old++, text }, after: { number: fresh++, text } });
      // The rest of a very long diff is only counted: "… and 12 lines more".
      else if (line !== '') rows.push({ kind: 'gap', count: Number(/\d+/.exec(line)?.[0] ?? 0) });
    }
  }
  flush();
  return rows;
}
