/** Places in the text of a definition, in YAML or JSON: from JSON pointers to ranges, and back. Pure. */
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import { memberOf, textOf, yamlValue } from '../../definition/document/yaml-tree.ts';
import type { Json } from '../../json/json.ts';
import { childPointer, pointer, pointerParts } from '../../json/pointer.ts';

/** Characters of the text, from 0; `to` is behind the last one. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface ParsedText {
  readonly text: string;
  readonly document: Document;
}

/** The text as a tree. A text with mistakes gives the tree of what could be read. JSON is read as YAML. */
export function parsedOf(text: string): ParsedText {
  const options = { schema: 'core', version: '1.2', logLevel: 'silent', strict: false, uniqueKeys: false } as const;
  return { text, document: parseDocument(text, options) };
}

/** The value of the text, as far as it could be read. Undefined where nothing could. Never throws. */
export function valueIn({ document }: ParsedText): Json | undefined {
  try {
    return yamlValue(document);
  } catch {
    return undefined;
  }
}

/** What a problem says of its place: see ProblemItem of the API. */
interface Placed {
  readonly pointer: string;
  readonly code?: string;
  /** From 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Codes of problems whose mistake is the name of a member, not its value. */
const OF_NAMES: ReadonlySet<string> = new Set(['unknown_member', 'duplicate_key']);

/** Where a problem stands: by its line where it has one, otherwise by its pointer. */
export function rangeOfProblem(parsed: ParsedText, { pointer: place, code, line, column }: Placed): Range {
  if (line === undefined) return rangeAt(parsed, place, OF_NAMES.has(code ?? '') ? 'key' : 'value');
  const start = startOfLine(parsed.text, line);
  const end = endOfLine(parsed.text, start);
  const from = Math.min(start + Math.max(0, (column ?? 1) - 1), end);
  // A mistake at the end of a line is shown on its last character.
  return from < end ? { from, to: end } : { from: Math.max(start, end - 1), to: end };
}

/**
 * The range of the value at a pointer. Of an object or a list it is the name before it, or its first line; of a value
 * that is not there, that of the nearest one around it. `key`: the range of its name.
 */
export function rangeAt(parsed: ParsedText, place: string, what: 'key' | 'value' = 'value'): Range {
  const found = walked(parsed, pointerParts(place));
  const key = rangeOfNode(found.key);
  if (key !== undefined && (what === 'key' || !found.isWhole)) return key;
  const value = rangeOfNode(found.node);
  if (value === undefined || value.from === value.to) return key ?? firstLine(parsed.text, 0);
  if (isScalar(found.node) || isAlias(found.node)) return value;
  return key ?? firstLine(parsed.text, value.from);
}

interface Walked {
  readonly key: unknown;
  readonly node: unknown;
  /** Every part of the pointer was found. */
  readonly isWhole: boolean;
}

function walked({ document }: ParsedText, parts: readonly string[]): Walked {
  let here: Walked = { key: undefined, node: document.contents, isWhole: true };
  for (const part of parts) {
    const next = memberOf(document, here.node, part);
    if (next === undefined) return { ...here, isWhole: false };
    // An element of a list has no name: it is shown itself.
    here = { key: next.key, node: next.node, isWhole: true };
  }
  return here;
}

/** A node without the line breaks behind it. */
function rangeOfNode(node: unknown): Range | undefined {
  const [from, to] = isNode(node) ? (node.range ?? []) : [];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** The pointer of the innermost value, or name, at a place in the text. */
export function pointerAt(parsed: ParsedText, offset: number): string {
  let place = '';
  let node: unknown = parsed.document.contents;
  for (;;) {
    const inner = innerAt(node, offset);
    if (inner === undefined) return place;
    place = childPointer(place, inner.name);
    node = inner.node;
  }
}

function innerAt(node: unknown, offset: number): { name: string | number; node: Node | undefined } | undefined {
  if (isMap(node)) {
    const pair = node.items.findLast(({ key }) => (rangeOfNode(key)?.from ?? Number.POSITIVE_INFINITY) <= offset);
    const name = textOf(pair?.key);
    if (pair === undefined || name === undefined || !holds(node, offset)) return undefined;
    const isInValue = isNode(pair.value) && (pair.value.range?.[0] ?? 0) <= offset;
    return { name, node: isInValue ? (pair.value as Node) : undefined };
  }
  if (!isSeq(node) || !holds(node, offset)) return undefined;
  const index = node.items.findLastIndex((item) => (rangeOfNode(item)?.from ?? Number.POSITIVE_INFINITY) <= offset);
  return index < 0 ? undefined : { name: index, node: node.items[index] as Node };
}

/** A block reaches to the next line that is not its own; braces end where they close. */
function holds(node: Node, offset: number): boolean {
  const [from = 0, to = 0, end = 0] = node.range ?? [];
  const isFlow = 'flow' in node && node.flow === true;
  return from <= offset && offset <= (isFlow ? to : end);
}

/** Members that hold the steps, in the dialects: by name, or as a list of steps that say their names. */
const STEP_LISTS = ['steps', 'nodes'] as const;
const NAMES = ['slug', 'id', 'name'] as const;

/** The pointer of a step. Undefined where the text has no step of that name. */
export function pointerOfStep(parsed: ParsedText, slug: string): string | undefined {
  for (const list of STEP_LISTS) {
    const { node, isWhole } = walked(parsed, [list]);
    if (!isWhole) continue;
    if (isMap(node) && walked(parsed, [list, slug]).isWhole) return pointer([list, slug]);
    if (!isSeq(node)) continue;
    const index = node.items.findIndex((item) => namesOf(item).includes(slug));
    if (index >= 0) return pointer([list, index]);
  }
  return undefined;
}

/** The step at a place in the text; undefined outside of steps. */
export const stepAt = (parsed: ParsedText, offset: number): string | undefined =>
  stepOfPointer(parsed, pointerAt(parsed, offset));

/** The step that a pointer leads into. */
export function stepOfPointer(parsed: ParsedText, place: string): string | undefined {
  const [list, name] = pointerParts(place);
  if (name === undefined || !STEP_LISTS.some((one) => one === list)) return undefined;
  const { node } = walked(parsed, [list as string]);
  return isSeq(node) ? namesOf(node.items[Number(name)])[0] : name;
}

const namesOf = (item: unknown): string[] =>
  isMap(item) ? NAMES.map((name) => item.get(name)).filter((name) => typeof name === 'string') : [];

/** The line of a place, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

function startOfLine(text: string, line: number): number {
  let start = 0;
  for (let left = line; left > 1; left--) {
    const end = text.indexOf('\n', start);
    if (end < 0) return start;
    start = end + 1;
  }
  return start;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

const firstLine = (text: string, from: number): Range => ({ from, to: endOfLine(text, from) });
