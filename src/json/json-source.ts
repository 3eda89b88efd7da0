/** What JSON.parse does not report of a text: duplicate keys, and numbers that a double cannot hold. */

import { endOfString } from './depth.ts';
import { pointer } from './pointer.ts';

/** A location in the text. */
interface SourceLocation {
  readonly offset: number;
  /** In the value. */
  readonly pointer: string;
}

export interface NumberLiteral extends SourceLocation {
  readonly written: string;
}

interface DuplicateKey extends SourceLocation {
  readonly name: string;
}

/** A text without a match holds no inexact number. */
const MAY_BE_INEXACT = /\d{16}|[eE]\+?\d{3}/;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Whether a double cannot hold the number: it is too large, or a whole number that becomes another one. */
export function isInexactNumber(written: string): boolean {
  const value = Number(written);
  if (!Number.isFinite(value)) return true;
  // As doubles are printed, with zeros at the end, they are read again as they were.
  return /^[+-]?\d{16,}$/.test(written) && String(value) !== written && BigInt(value) !== BigInt(written);
}

/** The numbers of a text, which is JSON, that a double cannot hold. */
export function inexactNumbers(text: string): NumberLiteral[] {
  const inexact: NumberLiteral[] = [];
  if (!MAY_BE_INEXACT.test(text)) return inexact;
  walk(text, {
    number: (offset, written, currentPointer) => {
      if (isInexactNumber(written)) inexact.push({ offset, written, pointer: currentPointer() });
    },
  });
  return inexact;
}

/** The first duplicate keys of a text, which is JSON. JSON.parse takes the last value of each. */
export function findDuplicateKeys(text: string, maxCount: number): DuplicateKey[] {
  const duplicates: DuplicateKey[] = [];
  walk(text, {
    duplicateKey: (offset, name, currentPointer) => {
      if (duplicates.length < maxCount) duplicates.push({ offset, name, pointer: currentPointer() });
    },
  });
  return duplicates;
}

interface Visitor {
  number?(offset: number, written: string, currentPointer: () => string): void;
  duplicateKey?(offset: number, name: string, currentPointer: () => string): void;
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
  const currentPointer = (): string => pointer(open.map(({ at }) => at));
  for (let offset = 0; offset < text.length; offset++) {
    const character = text[offset] as string;
    const top = open.at(-1);
    if (character === '"') {
      const end = endOfString(text, offset);
      if (top?.names !== undefined && top.expectsName) {
        top.at = JSON.parse(text.slice(offset, end + 1)) as string;
        if (top.names.has(top.at)) visitor.duplicateKey?.(offset, top.at, currentPointer);
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
      visitor.number?.(offset, written, currentPointer);
      offset += written.length - 1;
    }
  }
}
