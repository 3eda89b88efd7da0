/** Maps JSON pointers to ranges in the text of a definition, YAML or JSON, and offsets to pointers. Pure. */
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import { memberOf, textOf, yamlValue } from '../../definition/document/yaml-tree.ts';
import type { Json } from '../../json/json.ts';
import { childPointer, pointer, pointerParts } from '../../json/pointer.ts';

/** Characters of the text, from 0; `to` is behind the last one. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

export interface ParsedText {
  readonly text: string;
  readonly document: Document;
}

/** The text as a tree. A text with mistakes gives the tree of what could be read. JSON is read as YAML. */
export function parseText(text: string): ParsedText {
  const options = { schema: 'core', version: '1.2', logLevel: 'silent', strict: false, uniqueKeys: false } as const;
  return { text, document: parseDocument(text, options) };
}

/** The value of the text, as far as it could be read. Undefined where nothing could. Never throws. */
export function parsedValue({ document }: ParsedText): Json | undefined {
  try {
    return yamlValue(document);
  } catch {
    return undefined;
  }
}

/** The location of a problem: see ProblemItem of the API. */
interface ProblemLocation {
  readonly pointer: string;
  readonly code?: string;
  /** From 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Codes of problems about the name of a member, not its value. */
const MEMBER_NAME_CODES: ReadonlySet<string> = new Set(['unknown_member', 'duplicate_key']);

/** The range of a problem: by its line if it has one, otherwise by its pointer. */
export function rangeOfProblem(
  parsed: ParsedText,
  { pointer: location, code, line, column }: ProblemLocation,
): TextRange {
  if (line === undefined) return rangeAt(parsed, location, MEMBER_NAME_CODES.has(code ?? '') ? 'key' : 'value');
  const start = startOfLine(parsed.text, line);
  const end = endOfLine(parsed.text, start);
  const from = Math.min(start + Math.max(0, (column ?? 1) - 1), end);
  // A mistake at the end of a line is shown on its last character.
  return from < end ? { from, to: end } : { from: Math.max(start, end - 1), to: end };
}

/**
 * The range of the value at a pointer. Of an object or a list it is the name before it, or its first line; of a value
 * that does not exist, the range of its nearest ancestor. `key`: the range of its name.
 */
export function rangeAt(parsed: ParsedText, location: string, target: 'key' | 'value' = 'value'): TextRange {
  const found = findNode(parsed, pointerParts(location));
  const key = rangeOfNode(found.key);
  if (key !== undefined && (target === 'key' || !found.isComplete)) return key;
  const value = rangeOfNode(found.node);
  if (value === undefined || value.from === value.to) return key ?? firstLineRange(parsed.text, 0);
  if (isScalar(found.node) || isAlias(found.node)) return value;
  return key ?? firstLineRange(parsed.text, value.from);
}

interface FoundNode {
  readonly key: unknown;
  readonly node: unknown;
  /** Every part of the pointer was found. */
  readonly isComplete: boolean;
}

function findNode({ document }: ParsedText, parts: readonly string[]): FoundNode {
  let here: FoundNode = { key: undefined, node: document.contents, isComplete: true };
  for (const part of parts) {
    const next = memberOf(document, here.node, part);
    if (next === undefined) return { ...here, isComplete: false };
    // An element of a list has no name: it is shown itself.
    here = { key: next.key, node: next.node, isComplete: true };
  }
  return here;
}

/** A node without the line breaks behind it. */
function rangeOfNode(node: unknown): TextRange | undefined {
  const [from, to] = isNode(node) ? (node.range ?? []) : [];
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** The pointer of the innermost value, or name, at an offset. */
export function pointerAt(parsed: ParsedText, offset: number): string {
  let location = '';
  let node: unknown = parsed.document.contents;
  for (;;) {
    const inner = childAt(node, offset);
    if (inner === undefined) return location;
    location = childPointer(location, inner.name);
    node = inner.node;
  }
}

function childAt(node: unknown, offset: number): { name: string | number; node: Node | undefined } | undefined {
  if (isMap(node)) {
    const pair = node.items.findLast(({ key }) => (rangeOfNode(key)?.from ?? Number.POSITIVE_INFINITY) <= offset);
    const name = textOf(pair?.key);
    if (pair === undefined || name === undefined || !containsOffset(node, offset)) return undefined;
    const isInValue = isNode(pair.value) && (pair.value.range?.[0] ?? 0) <= offset;
    return { name, node: isInValue ? (pair.value as Node) : undefined };
  }
  if (!isSeq(node) || !containsOffset(node, offset)) return undefined;
  const index = node.items.findLastIndex((item) => (rangeOfNode(item)?.from ?? Number.POSITIVE_INFINITY) <= offset);
  return index < 0 ? undefined : { name: index, node: node.items[index] as Node };
}

/** A block reaches to the next line that is not its own; braces end where they close. */
function containsOffset(node: Node, offset: number): boolean {
  const [from = 0, to = 0, end = 0] = node.range ?? [];
  const isFlow = 'flow' in node && node.flow === true;
  return from <= offset && offset <= (isFlow ? to : end);
}

/** Members that hold the steps, in the dialects: by name, or as a list of steps that say their names. */
const STEP_LISTS = ['steps', 'nodes'] as const;
const STEP_NAME_MEMBERS = ['slug', 'id', 'name'] as const;

/** The pointer of a step. Undefined where the text has no step of that name. */
export function pointerOfStep(parsed: ParsedText, slug: string): string | undefined {
  for (const list of STEP_LISTS) {
    const { node, isComplete } = findNode(parsed, [list]);
    if (!isComplete) continue;
    if (isMap(node) && findNode(parsed, [list, slug]).isComplete) return pointer([list, slug]);
    if (!isSeq(node)) continue;
    const index = node.items.findIndex((item) => stepNamesOf(item).includes(slug));
    if (index >= 0) return pointer([list, index]);
  }
  return undefined;
}

/** The step at an offset; undefined outside of steps. */
export const stepAt = (parsed: ParsedText, offset: number): string | undefined =>
  stepOfPointer(parsed, pointerAt(parsed, offset));

/** The step that a pointer leads into. */
export function stepOfPointer(parsed: ParsedText, location: string): string | undefined {
  const [list, name] = pointerParts(location);
  if (name === undefined || !STEP_LISTS.some((one) => one === list)) return undefined;
  const { node } = findNode(parsed, [list as string]);
  return isSeq(node) ? stepNamesOf(node.items[Number(name)])[0] : name;
}

const stepNamesOf = (item: unknown): string[] =>
  isMap(item) ? STEP_NAME_MEMBERS.map((name) => item.get(name)).filter((name) => typeof name === 'string') : [];

/** The line of an offset, from 1. */
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

const firstLineRange = (text: string, from: number): TextRange => ({ from, to: endOfLine(text, from) });
