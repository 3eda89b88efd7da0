/** The unified diff of two texts: the fewest lines removed and added, by `diff`. */
import { type StructuredPatchHunk, structuredPatch } from 'diff';

/** Lines of context around a change. */
const CONTEXT_LINES = 3;
/** With more differing lines they are shown as replaced, since time and memory of the search grow with the square. */
const MAX_EDITS = 500;
/** The most lines of a diff. */
const MAX_LINES = 10_000;

type Hunk = Omit<StructuredPatchHunk, 'oldMissingNewline'>;

/** The diff; empty if the texts are equal. `names` are in its first two lines. */
export function textDiff(
  before: string,
  after: string,
  names: { readonly before: string; readonly after: string },
): string {
  if (before === after) return '';
  // With a newline after each line, no hunk says that the last one has none.
  const found = structuredPatch('', '', `${before}\n`, `${after}\n`, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
  });
  const hunks: readonly Hunk[] = found?.hunks ?? [replacementHunk(before.split('\n'), after.split('\n'))];
  const shown = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
  const more = shown.length - MAX_LINES;
  return [
    `--- ${names.before}`,
    `+++ ${names.after}`,
    ...shown.slice(0, MAX_LINES),
    ...(more > 0 ? [`… and ${more} lines more`] : []),
  ].join('\n');
}

/** Replaces all that is between the first lines and the last lines that both texts have. */
function replacementHunk(before: readonly string[], after: readonly string[]): Hunk {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const from = Math.max(0, start - CONTEXT_LINES);
  const rest = before.length - end;
  const lines = [
    ...before.slice(from, start).map((text) => ` ${text}`),
    ...before.slice(start, rest).map((text) => `-${text}`),
    ...after.slice(start, after.length - end).map((text) => `+${text}`),
    ...before.slice(rest, rest + CONTEXT_LINES).map((text) => ` ${text}`),
  ];
  const to = Math.min(end, CONTEXT_LINES);
  return {
    oldStart: from + 1,
    oldLines: rest + to - from,
    newStart: from + 1,
    newLines: after.length - end + to - from,
    lines,
  };
}
