/** Names in definitions: their patterns, slugs from titles, and suggestions for misspelled names. */

export const SLUG_PATTERN = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const STEP_SLUG_PATTERN = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const SEMVER_PATTERN =
  /^(0|[1-9]\d{0,9})\.(0|[1-9]\d{0,9})\.(0|[1-9]\d{0,9})(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$/;

export function isSemver(text: string): boolean {
  return SEMVER_PATTERN.test(text);
}

/** Whether a reader sees anything of the text: it has more than blanks and characters without a form. */
export const isVisible = (text: string): boolean => /[^\s\p{C}\p{Default_Ignorable_Code_Point}]/u.test(text);

export const VISIBLE_NAME_EXPECTED = 'expected a name that can be seen';

/** `Refund approval!` → `refund-approval`. A title without ASCII letters and digits gives `workflow`. */
export function slugify(title: string): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+/g, '')
    .slice(0, 63)
    .replaceAll(/-+$/g, '');
  return slug === '' ? 'workflow' : slug;
}

/** A step slug from any text: `step[0].then[1]` → `step_0_then_1`. */
export function stepSlug(text: string): string {
  const slug = text
    .trim()
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  const start = /^[A-Za-z_]/.test(slug) ? slug : `s_${slug}`;
  return start.slice(0, 64);
}

/** A unique slug for each name. A name that is a slug is kept. */
export function stepSlugs(names: readonly string[]): Map<string, string> {
  const taken = new Set(names.filter((name) => STEP_SLUG_PATTERN.test(name)));
  const numbers = new Map<string, number>();
  const slugs = new Map<string, string>();
  for (const name of names) {
    if (slugs.has(name)) continue;
    if (STEP_SLUG_PATTERN.test(name)) {
      slugs.set(name, name);
      continue;
    }
    const slug = stepSlug(name);
    let number = numbers.get(slug) ?? 1;
    let free = slug;
    while (taken.has(free)) free = `${slug.slice(0, 58)}_${++number}`;
    numbers.set(slug, number);
    taken.add(free);
    slugs.set(name, free);
  }
  return slugs;
}

/** The known name that is most similar, or undefined if none is similar. For hints. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  // A name of one or two letters can be misspelled only in case.
  let maxDistance = (name.length < 3 ? 0 : Math.max(1, Math.floor(name.length / 3))) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= maxDistance || candidate === name) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), maxDistance);
    if (distance < maxDistance) {
      maxDistance = distance;
      best = candidate;
    }
  }
  return best;
}

/** A hint: `Did you mean "stepType"?`, or the list of known names if it is short. */
export function didYouMean(name: string, known: readonly string[]): string | undefined {
  const meant = nearestName(name.slice(0, 100), known);
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  return known.length > 0 && known.length <= 20 ? `Known here: ${[...known].sort().join(', ')}.` : undefined;
}

/**
 * The Levenshtein distance, at most `limit`. Two swapped neighbouring letters count as one edit. By hand: in small
 * packages they are two.
 */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let lowest = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
      lowest = Math.min(lowest, cost);
    }
    if (lowest >= limit) return limit;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? limit;
}
