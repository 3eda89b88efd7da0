/** What JSON.parse does not tell of a text: names that are written twice, and numbers that a double cannot hold. */

import { endOfString } from './depth.ts';
import { pointer } from './pointer.ts';

/** A place in the text. */
export interface TextPlace {
  readonly offset: number;
  /** In the value. */
  readonly pointer: string;
}

export interface WrittenNumber extends TextPlace {
  readonly written: string;
}

export interface RepeatedName extends TextPlace {
  readonly name: string;
}

/** A text without these holds no number that is lost. */
const MAY_BE_LOST = /\d{16}|[eE]\+?\d{3}/;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Whether a double cannot hold the number: it is too large, or a whole number that becomes another one. */
export function isLost(written: string): boolean {
  const value = Number(written);
  if (!Number.isFinite(value)) return true;
  // As doubles are printed, with zeros at the end, they are read again as they were.
  return /^[+-]?\d{16,}$/.test(written) && String(value) !== written && BigInt(value) !== BigInt(written);
}

/** The numbers of a text, which is JSON, that are lost when it is read. */
export function lostNumbers(text: string): WrittenNumber[] {
  const lost: WrittenNumber[] = [];
  if (!MAY_BE_LOST.test(text)) return lost;
  walk(text, {
    number: (offset, written, place) => {
      if (isLost(written)) lost.push({ offset, written, pointer: place() });
    },
  });
  return lost;
}

/** The first names of a text, which is JSON, that stand twice in one object. JSON.parse keeps the last one. */
export function repeatedNames(text: string, most: number): RepeatedName[] {
  const repeated: RepeatedName[] = [];
  walk(text, {
    repeated: (offset, name, place) => {
      if (repeated.length < most) repeated.push({ offset, name, pointer: place() });
    },
  });
  return repeated;
}

interface Visitor {
  number?(offset: number, written: string, place: () => string): void;
  repeated?(offset: number, name: string, place: () => string): void;
}

interface OpenValue {
  /** Undefined for a list. */
  readonly names: Set<string> | undefined;
  /** The name or index of the member that is being read. */
  at: string | number;
  expectsName: boolean;
}

function walk(text: string, visitor: Visitor): void {
  const open: OpenValue[] = [];
  const place = (): string => pointer(open.map(({ at }) => at));
  for (let offset = 0; offset < text.length; offset++) {
    const character = text[offset] as string;
    const top = open.at(-1);
    if (character === '"') {
      const end = endOfString(text, offset);
      if (top?.names !== undefined && top.expectsName) {
        top.at = JSON.parse(text.slice(offset, end + 1)) as string;
        if (top.names.has(top.at)) visitor.repeated?.(offset, top.at, place);
        top.names.add(top.at);
        top.expectsName = false;
      }
      offset = end;
    } else if (character === '{' || character === '[') {
      open.push({ names: character === '{' ? new Set() : undefined, at: 0, expectsName: true });
    } else if (character === '}' || character === ']') {
      open.pop();
    } else if (character === ',' && top !== undefined) {
      if (typeof top.at === 'number') top.at += 1;
      top.expectsName = true;
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = offset;
      const written = NUMBER.exec(text)?.[0] ?? character;
      visitor.number?.(offset, written, place);
      offset += written.length - 1;
    }
  }
}
