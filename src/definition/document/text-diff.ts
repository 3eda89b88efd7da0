/** The unified diff of two texts (Myers, "An O(ND) Difference Algorithm"): the fewest lines removed and added. */

/** Lines of context around a change. */
const CONTEXT = 3;
/** With more differing lines they are shown as replaced, since time and memory of the search grow with the square. */
const MOST_EDITS = 500;
/** The most lines of a diff. */
const MOST_LINES = 10_000;

type Line = { readonly mark: ' ' | '-' | '+'; readonly text: string };

/** The diff; empty if the texts are equal. `names` are in its first two lines. */
export function textDiff(
  before: string,
  after: string,
  names: { readonly before: string; readonly after: string },
): string {
  if (before === after) return '';
  const lines = merged(before.split('\n'), after.split('\n'));
  const shown = hunks(lines);
  const more = shown.length - MOST_LINES;
  return [
    `--- ${names.before}`,
    `+++ ${names.after}`,
    ...shown.slice(0, MOST_LINES),
    ...(more > 0 ? [`… and ${more} lines more`] : []),
  ].join('\n');
}

/** The lines of both texts, with common lines once. */
function merged(before: readonly string[], after: readonly string[]): Line[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (texts: readonly string[]): Line[] => texts.map((text) => ({ mark: ' ', text }));
  return [
    ...same(before.slice(0, start)),
    ...edits(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** The shortest edit script, found forwards and followed backwards. */
function edits(before: readonly string[], after: readonly string[]): Line[] {
  const most = Math.min(before.length + after.length, MOST_EDITS);
  /** The furthest line of `before` on each diagonal, by the number of edits. */
  const rounds: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= most; d++) {
    const next = new Map(furthest);
    for (let k = -d; k <= d; k += 2) {
      let x = isDown(furthest, k, d) ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
      next.set(k, x);
      if (x >= before.length && x - k >= after.length) return followed(before, after, [...rounds, furthest], d);
    }
    rounds.push(furthest);
    furthest = next;
  }
  return [...before.map((text): Line => ({ mark: '-', text })), ...after.map((text): Line => ({ mark: '+', text }))];
}

/** Whether the furthest path to the diagonal ends with an added line. */
function isDown(furthest: ReadonlyMap<number, number>, k: number, d: number): boolean {
  return k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
}

function followed(
  before: readonly string[],
  after: readonly string[],
  rounds: readonly ReadonlyMap<number, number>[],
  found: number,
): Line[] {
  const lines: Line[] = [];
  let [x, y] = [before.length, after.length];
  for (let d = found; d > 0; d--) {
    const furthest = rounds[d] ?? new Map<number, number>();
    const k = x - y;
    const down = isDown(furthest, k, d);
    const fromX = furthest.get(down ? k + 1 : k - 1) ?? 0;
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX + (down ? 0 : 1) && y > fromY + (down ? 1 : 0)) {
      lines.push({ mark: ' ', text: before[--x] ?? '' });
      y--;
    }
    if (down) lines.push({ mark: '+', text: after[--y] ?? '' });
    else lines.push({ mark: '-', text: before[--x] ?? '' });
  }
  while (x > 0) lines.push({ mark: ' ', text: before[--x] ?? '' });
  return lines.reverse();
}

function hunks(lines: readonly Line[]): string[] {
  const shown: string[] = [];
  let [old, fresh] = [1, 1];
  let at = 0;
  while (at < lines.length) {
    let first = at;
    while (lines[first]?.mark === ' ') first++;
    if (first === lines.length) break;
    const from = Math.max(at, first - CONTEXT);
    old += from - at;
    fresh += from - at;
    let to = first;
    for (let quiet = 0, index = first; index < lines.length && quiet <= 2 * CONTEXT; index++) {
      quiet = lines[index]?.mark === ' ' ? quiet + 1 : 0;
      if (quiet === 0) to = index;
    }
    const hunk = lines.slice(from, to + 1 + CONTEXT);
    const removed = hunk.filter(({ mark }) => mark !== '+').length;
    const added = hunk.filter(({ mark }) => mark !== '-').length;
    shown.push(`@@ -${old},${removed} +${fresh},${added} @@`);
    // One by one, since many lines as arguments would overflow the stack.
    for (const { mark, text } of hunk) shown.push(mark + text);
    old += removed;
    fresh += added;
    at = from + hunk.length;
  }
  return shown;
}
