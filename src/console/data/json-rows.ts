/** JSON as rows of a tree: what is open, what is found, and how expressions name each value. */
import { pointer } from '../../json/pointer.ts';

/** The most text of a value that is shown, as JSON. */
export const MOST_SHOWN_CHARACTERS = 100_000;

type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface JsonRow {
  /** Members and indices from the root. */
  readonly path: readonly (string | number)[];
  /** JSON pointer, the key of the row. */
  readonly pointer: string;
  readonly depth: number;
  readonly kind: JsonKind;
  /** The value, of containers what they hold: `3 members`. */
  readonly text: string;
  /** Whether it has rows of its own, and they are shown. Undefined for what holds nothing. */
  readonly isOpen: boolean | undefined;
  readonly isFound: boolean;
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
 * that hold the text, what leads to them, and what is below them; what leads to them is open.
 */
export function rowsOf(
  value: unknown,
  isOpen: (pointer: string, depth: number) => boolean,
  search = '',
): readonly JsonRow[] {
  const wanted = search.toLowerCase();
  const visit = (member: unknown, path: readonly (string | number)[], isWithin: boolean): Visited => {
    const kind = kindOf(member);
    const place = pointer(path);
    const inside = entriesOf(member);
    const text = textOf(member, kind, inside.length);
    const isLeaf = inside.length === 0;
    const told = `${path.at(-1) ?? ''}${isLeaf ? `\n${text}` : ''}`.toLowerCase();
    const isFound = wanted !== '' && told.includes(wanted);
    const row = { path, pointer: place, depth: path.length, kind, text, isFound };
    if (isLeaf) return { rows: [{ ...row, isOpen: undefined }], holds: isFound };
    const isShown = isOpen(place, path.length);
    if (wanted === '' && !isShown) return { rows: [{ ...row, isOpen: false }], holds: false };
    const below = inside.map(([name, child]) => visit(child, [...path, name], isWithin || isFound));
    const leads = below.some(({ holds }) => holds);
    if (!leads && !isShown) return { rows: [{ ...row, isOpen: false }], holds: isFound };
    const all = wanted === '' || isWithin || isFound;
    const rows = below.filter(({ holds }) => all || holds).flatMap((one) => one.rows);
    return { rows: [{ ...row, isOpen: rows.length > 0 }, ...rows], holds: leads || isFound };
  };
  return visit(value, [], false).rows;
}

interface Visited {
  readonly rows: readonly JsonRow[];
  /** It is found, or something below it. */
  readonly holds: boolean;
}

interface CutJson {
  readonly value: unknown;
  readonly isCut: boolean;
}

/** The beginning of a value: members in their order until `most` characters are used. Long texts end in `…`. */
export function cutJson(value: unknown, most = MOST_SHOWN_CHARACTERS): CutJson {
  let room = most;
  let isCut = false;
  const take = (member: unknown): unknown => {
    if (typeof member === 'string') {
      room -= member.length + 2;
      if (room >= 0) return member;
      isCut = true;
      return `${member.slice(0, Math.max(0, member.length + room))}…`;
    }
    if (typeof member !== 'object' || member === null) {
      room -= String(member).length;
      return member;
    }
    const kept: [string | number, unknown][] = [];
    for (const [name, child] of entriesOf(member)) {
      room -= typeof name === 'string' ? name.length + 4 : 1;
      if (room <= 0) {
        isCut = true;
        break;
      }
      kept.push([name, take(child)]);
    }
    return Array.isArray(member) ? kept.map(([, child]) => child) : Object.fromEntries(kept);
  };
  const cut = take(value);
  return { value: isCut ? cut : value, isCut };
}

function entriesOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item] as const);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function textOf(value: unknown, kind: JsonKind, inside: number): string {
  if (kind === 'object') return inside === 0 ? '{}' : `${inside} ${inside === 1 ? 'member' : 'members'}`;
  if (kind === 'array') return inside === 0 ? '[]' : `${inside} ${inside === 1 ? 'item' : 'items'}`;
  return JSON.stringify(value) ?? 'null';
}
