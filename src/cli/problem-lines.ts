/** Problems of a definition as lines with file, line and column, which editors can follow. */
import { type Document, isNode, LineCounter, type Node, parseDocument } from 'yaml';
import type { Problem } from '../definition/document/types.ts';
import { memberOf } from '../definition/document/yaml-tree.ts';
import { pointerParts } from '../json/pointer.ts';

type Severity = 'error' | 'warning';

interface TextPosition {
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

/**
 * The position of a JSON pointer, or of its nearest existing parent; of what aliases and merge keys bring in, the place
 * where it is written. Lines and columns start at 1.
 */
export function positionsIn(text: string): (pointer: string) => TextPosition | undefined {
  const lines = new LineCounter();
  let document: Document;
  try {
    document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: 'silent' });
  } catch {
    return () => undefined;
  }
  return (pointer) => {
    const start = nodeAt(document, pointer)?.range?.[0];
    if (start === undefined) return undefined;
    const { line, col } = lines.linePos(start);
    return { line, column: col };
  };
}

function nodeAt(document: Document, pointer: string): Node | null {
  let here = document.contents;
  for (const key of pointerParts(pointer)) {
    const next = memberOf(document, here, key)?.node;
    if (!isNode(next)) break;
    here = next;
  }
  return here;
}
