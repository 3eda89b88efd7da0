/** Problems of a definition as lines with file, line and column, which editors can follow. */
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Problem } from '../definition/document/types.ts';
import { pointerParts } from '../json/pointer.ts';

export type Severity = 'error' | 'warning';

export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** `error /steps/pay/config/url: message (code) hint`, with `file:line:column` in front if they are known. */
export function problemLine(severity: Severity, problem: Problem, file?: string, place?: TextPosition): string {
  const { pointer, code, message, hint } = problem;
  const where = file === undefined ? '' : `${file}${place === undefined ? '' : `:${place.line}:${place.column}`} `;
  return (
    `${where}${severity} ${pointer === '' ? '/' : pointer}: ${message} ` +
    `(${code})${hint === undefined ? '' : ` ${hint}`}`
  );
}

/** The position of a JSON pointer, or of its nearest existing parent. Lines and columns start at 1. */
export function positionsIn(text: string): (pointer: string) => TextPosition | undefined {
  const lines = new LineCounter();
  let root: Node | null;
  try {
    root = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: 'silent' }).contents;
  } catch {
    return () => undefined;
  }
  return (pointer) => {
    const start = nodeAt(root, pointer)?.range?.[0];
    if (start === undefined) return undefined;
    const { line, col } = lines.linePos(start);
    return { line, column: col };
  };
}

function nodeAt(root: Node | null, pointer: string): Node | null {
  let here = root;
  for (const key of pointerParts(pointer)) {
    const next = isMap(here) ? here.get(key, true) : isSeq(here) ? here.get(Number(key), true) : undefined;
    if (next === undefined || next === null) break;
    here = next as Node;
  }
  return here;
}
