/** JSON as rows of a tree: open containers, search matches, and the expression of each value. */
import { pointer } from '../../json/pointer.ts';

/** The largest size of a value that is shown in full, as JSON. */
export const MAX_SHOWN_CHARACTERS = 100_000;

type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface JsonRow {
  /** Members and indices from the root. */
  readonly path: readonly (string | number)[];
  /** JSON pointer, the key of the row. */
  readonly pointer: string;
  readonly depth: number;
  readonly kind: JsonKind;
  /** The value; of a container its size: `3 members`. */
  readonly text: string;
  /** Whether the rows of a container are shown. Undefined for leaves and empty containers. */
  readonly isOpen: boolean | undefined;
  readonly isMatch: boolean;
}

export const kindOf = (value: unknown): JsonKind => {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
};

/** The expression of a value below `base`: `steps.fetch.output.data.items[0]['odd name']`. */
export const expressionOf = (base: string, path: readonly (string | number)[]): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    if (/^[A-Za-z_]\w*$/.test(part)) return text === '' ? part : `${text}.${part}`;
    return `${text}['${part.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}']`;
  }, base);

/**
 * The rows of a value. `isOpen` decides for each container by its pointer and depth. With `search` there are only rows
 * that match, their ancestors, which are open, and their descendants.
 */
export function rowsOf(
  value: unknown,
  isOpen: (pointer: string, depth: number) => boolean,
  search = '',
): readonly JsonRow[] {
  const wanted = search.toLowerCase();
  const visit = (member: unknown, path: readonly (string | number)[], isWithin: boolean): VisitedValue => {
    const kind = kindOf(member);
    const rowPointer = pointer(path);
    const entries = entriesOf(member);
    const text = textOf(member, kind, entries.length);
    const isLeaf = entries.length === 0;
    const searchableText = `${path.at(-1) ?? ''}${isLeaf ? `\n${text}` : ''}`.toLowerCase();
    const isMatch = wanted !== '' && searchableText.includes(wanted);
    const row = { path, pointer: rowPointer, depth: path.length, kind, text, isMatch };
    if (isLeaf) return { rows: [{ ...row, isOpen: undefined }], hasMatch: isMatch };
    const isShown = isOpen(rowPointer, path.length);
    if (wanted === '' && !isShown) return { rows: [{ ...row, isOpen: false }], hasMatch: false };
    const below = entries.map(([name, child]) => visit(child, [...path, name], isWithin || isMatch));
    const hasMatchBelow = below.some(({ hasMatch }) => hasMatch);
    if (!hasMatchBelow && !isShown) return { rows: [{ ...row, isOpen: false }], hasMatch: isMatch };
    const all = wanted === '' || isWithin || isMatch;
    const rows = below.filter(({ hasMatch }) => all || hasMatch).flatMap((one) => one.rows);
    return { rows: [{ ...row, isOpen: rows.length > 0 }, ...rows], hasMatch: hasMatchBelow || isMatch };
  };
  return visit(value, [], false).rows;
}

interface VisitedValue {
  readonly rows: readonly JsonRow[];
  /** The value or one of its descendants matches the search. */
  readonly hasMatch: boolean;
}

interface TruncatedJson {
  readonly value: unknown;
  readonly isTruncated: boolean;
}

/** The beginning of a value: its members in order, up to `maxCharacters` characters. Truncated texts end in `…`. */
export function truncateJson(value: unknown, maxCharacters = MAX_SHOWN_CHARACTERS): TruncatedJson {
  let remaining = maxCharacters;
  let isTruncated = false;
  const truncate = (member: unknown): unknown => {
    if (typeof member === 'string') {
      remaining -= member.length + 2;
      if (remaining >= 0) return member;
      isTruncated = true;
      return `${member.slice(0, Math.max(0, member.length + remaining))}…`;
    }
    if (typeof member !== 'object' || member === null) {
      remaining -= String(member).length;
      return member;
    }
    const members: [string | number, unknown][] = [];
    for (const [name, child] of entriesOf(member)) {
      remaining -= typeof name === 'string' ? name.length + 4 : 1;
      if (remaining <= 0) {
        isTruncated = true;
        break;
      }
      members.push([name, truncate(child)]);
    }
    return Array.isArray(member) ? members.map(([, child]) => child) : Object.fromEntries(members);
  };
  const truncated = truncate(value);
  return { value: isTruncated ? truncated : value, isTruncated };
}

function entriesOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item] as const);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function textOf(value: unknown, kind: JsonKind, entryCount: number): string {
  if (kind === 'object') return entryCount === 0 ? '{}' : `${entryCount} ${entryCount === 1 ? 'member' : 'members'}`;
  if (kind === 'array') return entryCount === 0 ? '[]' : `${entryCount} ${entryCount === 1 ? 'item' : 'items'}`;
  return JSON.stringify(value) ?? 'null';
}
