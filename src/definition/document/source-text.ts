/**
 * The text of a definition as its author wrote it, with comments, in YAML or JSON (LANGUAGE.md §11). It is stored
 * beside the version. It never holds a clear secret: a reference replaces it.
 */
import { isMap, isNode, type Node, parseDocument as parseYamlDocument } from 'yaml';
import { canonicalText } from '../../json/canonical-text.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { type ClearSecret, extractSecrets, type Replacement } from './extract-secrets.ts';
import { parseDocument } from './parse.ts';

export type TextMedia = 'yaml' | 'json';

/** Texts with more characters are not edited in place. */
const MAX_EDITABLE_CHARACTERS = 256 * 1024;

/**
 * The text to store with a definition that was stored under `slug`. Undefined for JSON in one line, which is not worth
 * storing, and where a clear secret would stay in it, for example in a comment. Never throws.
 */
export function textToStore(
  written: string,
  media: TextMedia,
  slug: string,
  secrets: readonly ClearSecret[],
): string | undefined {
  const text = written.startsWith('\uFEFF') ? written.slice(1) : written;
  if (media === 'json' && !text.trim().includes('\n')) return undefined;
  if (secrets.length === 0) return text;
  const document = documentOf(text);
  if (document === undefined) return undefined;
  const { replacements, document: clean } = extractSecrets({ ...document, slug });
  const replaced = applyEdits(text, (root) => replacements.map((one) => replacementEdit(root, one)));
  const reparsed = replaced === undefined ? undefined : documentOf(replaced);
  if (replaced === undefined || reparsed === undefined || !isSame({ ...reparsed, slug }, clean)) return undefined;
  return containsSecret(replaced, secrets) || collectTexts(reparsed).some((one) => containsSecret(one, secrets))
    ? undefined
    : replaced;
}

/**
 * The text with other values of outermost members; everything else stays as it is written. Undefined where that cannot
 * be done. Never throws.
 */
export function withMembers(text: string, members: JsonObject): string | undefined {
  const document = documentOf(text);
  if (document === undefined) return undefined;
  const changed = Object.entries(members).filter(([key, value]) => !isSame(document[key] ?? null, value));
  const result = applyEdits(text, (root) => changed.map(([key, value]) => memberEdit(root, key, value)));
  const reparsed = result === undefined ? undefined : documentOf(result);
  return reparsed !== undefined && isSame(reparsed, { ...document, ...members }) ? result : undefined;
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The text with these edits, which do not overlap. */
function applyEdits(text: string, editsFor: (root: Node) => readonly (Edit | undefined)[]): string | undefined {
  if (text.length > MAX_EDITABLE_CHARACTERS) return undefined;
  const root = parseYamlDocument(text, { schema: 'core', version: '1.2', logLevel: 'silent' }).contents;
  if (!isMap(root)) return undefined;
  const edits = editsFor(root);
  let result = text;
  for (const edit of [...edits].sort((a, b) => (b?.from ?? 0) - (a?.from ?? 0))) {
    if (edit === undefined) return undefined;
    // A block in YAML ends behind its line break, which stays.
    const kept = text.slice(edit.from, edit.to).trimEnd().length;
    result = result.slice(0, edit.from) + edit.text + result.slice(edit.from + kept);
  }
  return result;
}

function replacementEdit(root: Node, { path, value }: Replacement): Edit | undefined {
  const node = isMap(root) ? root.getIn(path, true) : undefined;
  return isNode(node) ? nodeEdit(node, value) : undefined;
}

function nodeEdit(node: Node, value: Json): Edit | undefined {
  const [from, to] = node.range ?? [];
  return from === undefined || to === undefined ? undefined : { from, to, text: flowYaml(value) };
}

/** Replaces the member, or writes it before the first one. */
function memberEdit(root: Node, key: string, value: Json): Edit | undefined {
  if (!isMap(root)) return undefined;
  const node = root.get(key, true);
  if (isNode(node)) return nodeEdit(node, value);
  const [first] = root.items;
  const start = isNode(first?.key) ? first.key.range?.[0] : undefined;
  if (start === undefined) return undefined;
  const written = root.flow === true ? `${JSON.stringify(key)}: ${flowYaml(value)}, ` : `${key}: ${flowYaml(value)}\n`;
  return { from: start, to: start, text: written };
}

/** JSON in one line, which is YAML too. */
const flowYaml = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(flowYaml).join(', ')}]`;
  return isObject(value)
    ? `{${Object.entries(value)
        .map(([key, member]) => `${JSON.stringify(key)}: ${flowYaml(member)}`)
        .join(', ')}}`
    : JSON.stringify(value);
};

function documentOf(text: string): JsonObject | undefined {
  const parsed = parseDocument(text);
  const document = 'document' in parsed ? parsed.document.json : undefined;
  return document !== undefined && isObject(document) ? document : undefined;
}

const isSame = (one: Json, other: Json): boolean => canonicalText(one) === canonicalText(other);

/** Whether the text holds a secret, as it is or as a JSON string writes it. */
const containsSecret = (text: string, secrets: readonly ClearSecret[]): boolean =>
  secrets.some(({ value }) => text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1)));

/** Every text of the document, also those within its JSON texts, which importers read. An escape hides none of them. */
function collectTexts(document: Json): string[] {
  const texts: string[] = [];
  const open: Json[] = [document];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) open.push(...value);
    else if (isObject(value)) open.push(...Object.keys(value), ...Object.values(value));
    else if (typeof value === 'string') {
      texts.push(value);
      const inner = tryParseJson(value);
      if (inner !== undefined) open.push(inner);
    }
  }
  return texts;
}

function tryParseJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
