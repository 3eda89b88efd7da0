/** Semantic versions of definitions: a changed body bumps the patch unless the author bumped it (LANGUAGE.md §1). */

const FIRST_VERSION = '1.0.0';

/**
 * The version of a definition that is being written: the author's if it is higher than the one before, else the one
 * before with its patch bumped where the body changed.
 */
export function nextVersion(before: string | undefined, written: string | undefined, changed: boolean): string {
  if (before === undefined) return written ?? FIRST_VERSION;
  if (written !== undefined && compareVersions(written, before) > 0) return written;
  return changed ? bumpPatch(before) : before;
}

/** Below zero where `a` is the lower one. Build metadata does not count; a pre-release is lower than its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  for (let i = 0; i < 3; i++) {
    const difference = (left.numbers[i] ?? 0) - (right.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.pre === right.pre) return 0;
  if (left.pre === '') return 1;
  if (right.pre === '') return -1;
  return comparePrereleases(left.pre.split('.'), right.pre.split('.'));
}

function comparePrereleases(left: readonly string[], right: readonly string[]): number {
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [a, b] = [left[i], right[i]];
    if (a === undefined) return -1;
    if (b === undefined) return 1;
    if (a === b) continue;
    const [isA, isB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    if (isA && isB) return Number(a) - Number(b);
    if (isA !== isB) return isA ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return 0;
}

function bumpPatch(version: string): string {
  const { numbers, pre } = parse(version);
  const [major = 0, minor = 0, patch = 0] = numbers;
  return pre === '' ? `${major}.${minor}.${patch + 1}` : `${major}.${minor}.${patch}`;
}

function parse(version: string): { numbers: readonly number[]; pre: string } {
  const [core = '', ...rest] = (version.split('+')[0] ?? '').split('-');
  return { numbers: core.split('.').map((part) => Number.parseInt(part, 10) || 0), pre: rest.join('-') };
}
