/**
 * Reads documents in JSON or YAML 1.2 (core schema, merge keys, no custom tags, bounded aliases). A text that begins
 * like JSON is parsed as JSON and checked for duplicate keys; if it is not JSON, it is parsed as YAML.
 */

import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
} from 'yaml';
import { MAX_NESTING, tooDeepAt } from '../../json/depth.ts';
import type { Json } from '../../json/json.ts';
import { findDuplicateKeys, inexactNumbers, isInexactNumber } from '../../json/json-source.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { MAX_TEXT_CHARACTERS, MAX_YAML_CHARACTERS } from './limits.ts';
import type { Problem } from './types.ts';
import { VettedDocument, vet } from './vet.ts';
import { pathOf, UnresolvedYaml, yamlValue } from './yaml-tree.ts';

/** A problem with its position in the text: lines and columns from 1. */
interface TextProblem extends Problem {
  readonly line?: number;
  readonly column?: number;
}

type Parsed = { readonly document: VettedDocument } | { readonly problems: readonly TextProblem[] };

const TOO_DEEP = { code: 'too_deep', message: `The document is nested deeper than ${MAX_NESTING} levels.` };

/**
 * The document of a text, or the problems: `text_too_large`, `malformed` (with line and column), `duplicate_key`,
 * `unknown_tag`, `too_many_aliases`, `several_documents`, `empty_document`, and those of vet().
 */
export function parseDocument(text: string): Parsed {
  if (text.length > MAX_TEXT_CHARACTERS) return tooLong(text);
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (content.trim() === '')
    return problemResult('empty_document', 'The document is empty: expected a definition in JSON or YAML.');
  // A recursive parser must not see a text that nests far too deeply. vet() reports lesser depths, with a pointer.
  const deep = tooDeepAt(content, MAX_NESTING + 50);
  if (deep !== undefined) return problemResult(TOO_DEEP.code, TOO_DEEP.message, lineAndColumn(content, deep));
  return /^\s*[[{"]/.test(content) ? parseJson(content) : parseYaml(content);
}

/**
 * The document in a JSON text that has been parsed already, with its depth checked: reports `text_too_large`,
 * `duplicate_key`, and the problems that vet() finds.
 */
export function documentOfJson(text: string, value: Json): Parsed {
  if (text.length > MAX_TEXT_CHARACTERS) return tooLong(text);
  const duplicates = duplicateKeys(text);
  if (duplicates.length > 0) return { problems: duplicates };
  return vetParsed(
    value,
    inexactNumbers(text).flatMap(({ pointer, written }) => roundedNumberWarnings(pointer, written)),
  );
}

const tooLong = (text: string): Parsed =>
  problemResult(
    'text_too_large',
    `The text has ${text.length} characters; at most ${MAX_TEXT_CHARACTERS} are allowed.`,
  );

/** A quoted first key, or a first key without quotes in braces: what is wrong further down is said in YAML's words. */
const BEGINS_YAML = /^\s*(?:"|\{\s*[\w$'])/;

function parseJson(text: string): Parsed {
  let document: Json;
  try {
    document = JSON.parse(text) as Json;
  } catch (error) {
    // YAML's flow style begins with a brace too.
    const asYaml = parseYaml(text);
    if ('document' in asYaml || BEGINS_YAML.test(text)) return asYaml;
    return { problems: [jsonError(text, error)] };
  }
  return documentOfJson(text, document);
}

function jsonError(text: string, error: unknown): TextProblem {
  const reason = error instanceof Error ? error.message : 'it cannot be read';
  const offset = /position (\d+)/.exec(reason)?.[1];
  const end = /end of JSON input/i.test(reason) ? text.length : undefined;
  const place =
    offset === undefined && end === undefined
      ? {}
      : lineAndColumn(text, offset === undefined ? text.length : Number(offset));
  const words = reason
    .replace(/,? ?"[\s\S]*" is not valid JSON/, '')
    .replace(/ in JSON at position[\s\S]*/, '')
    .slice(0, 200);
  return { pointer: '', code: 'malformed', message: `This is neither JSON nor YAML: ${words}.`, ...place };
}

function parseYaml(text: string): Parsed {
  if (text.length > MAX_YAML_CHARACTERS) {
    return problemResult(
      'text_too_large',
      `The YAML has ${text.length} characters; at most ${MAX_YAML_CHARACTERS} are allowed.`,
      undefined,
      'Write it as JSON.',
    );
  }
  try {
    return readYaml(text);
  } catch (error) {
    // A text that overflows the parser's stack is nested far too deeply.
    if (error instanceof RangeError) return problemResult(TOO_DEEP.code, TOO_DEEP.message);
    return problemResult('malformed', 'This YAML cannot be read.');
  }
}

function readYaml(text: string): Parsed {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    uniqueKeys: false,
    schema: 'core',
    version: '1.2',
    strict: true,
    logLevel: 'silent',
  });
  const [first, second] = Array.isArray(documents) ? documents : [];
  if (first === undefined)
    return problemResult('empty_document', 'The document is empty: expected a definition in JSON or YAML.');
  if (second !== undefined)
    return problemResult('several_documents', 'The text contains several YAML documents: expected one.');
  const problems = yamlProblems(first, lines);
  if (problems.length > 0) return { problems };
  try {
    return vetParsed(yamlValue(first), roundedInYaml(first, text));
  } catch (error) {
    if (!(error instanceof UnresolvedYaml)) throw error;
    const { code, message, node, hint } = error;
    return {
      problems: [{ pointer: '', code, message, ...omitUndefined({ hint }), ...(node && nodePosition(node, lines)) }],
    };
  }
}

function vetParsed(document: Json, warnings: readonly Problem[]): Parsed {
  const problems = vet(document);
  return problems.length > 0 ? { problems } : { document: new VettedDocument(document, warnings) };
}

function yamlProblems(document: Document.Parsed, lines: LineCounter): TextProblem[] {
  const problems: TextProblem[] = document.errors.slice(0, 20).map((error) => {
    const start = lines.linePos(error.pos[0]);
    const words = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '';
    const place = { line: start.line, column: start.col };
    // The parser reports an overflow of its stack this way.
    if (words.startsWith('Maximum call stack')) return { pointer: '', ...TOO_DEEP, ...place };
    return { pointer: '', code: 'malformed', message: `This YAML cannot be read: ${words}.`, ...place };
  });
  visit(document, {
    Node: (_, node) => {
      const tag = node.tag;
      if (tag !== undefined && isAlias(node) === false && !STANDARD_TAGS.has(tag)) {
        problems.push({
          pointer: '',
          code: 'unknown_tag',
          message: `The tag ${tag.slice(0, 80)} is not known: expected values without tags.`,
          ...nodePosition(node, lines),
        });
      }
    },
    Map: (_, map) => {
      const keys = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (keys.has(name))
          problems.push({
            pointer: '',
            code: 'duplicate_key',
            message: `"${name.slice(0, 80)}" is written twice in one mapping.`,
            ...nodePosition(key, lines),
          });
        keys.add(name);
      }
    },
    Pair: (_, pair) => {
      if (isPair(pair) && (isMap(pair.key) || isSeq(pair.key) || isAlias(pair.key))) {
        problems.push({
          pointer: '',
          code: 'malformed',
          message: 'A key must be plain text.',
          ...nodePosition(pair.key, lines),
        });
      }
    },
  });
  return problems.slice(0, 20);
}

const STANDARD_TAGS: ReadonlySet<string> = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((name) => `tag:yaml.org,2002:${name}`),
);

function nodePosition(node: Node, lines: LineCounter): { line?: number; column?: number } {
  const offset = node.range?.[0];
  if (offset === undefined) return {};
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

/** A person could review another value than the one that runs. */
const duplicateKeys = (text: string): TextProblem[] =>
  findDuplicateKeys(text, 20).map(({ name, offset, pointer }) => ({
    pointer,
    code: 'duplicate_key',
    message: `"${name.slice(0, 80)}" is written twice in one object.`,
    ...lineAndColumn(text, offset),
  }));

/** Numbers that are too large for a double are problems, which vet() reports. */
const roundedNumberWarnings = (pointer: string, written: string): Problem[] =>
  Number.isFinite(Number(written))
    ? [
        {
          pointer,
          code: 'rounded_number',
          message: `This number is rounded to ${Number(written)}, as all numbers beyond 2^53 may be.`,
          hint: 'Write it in quotes to keep its digits.',
        },
      ]
    : [];

function roundedInYaml(document: Document, text: string): Problem[] {
  if (!/\d{16}/.test(text)) return [];
  const found: Problem[] = [];
  visit(document, {
    Scalar: (key, node, path) => {
      const { value, source = '' } = node;
      if (typeof value === 'number' && key !== 'key' && isInexactNumber(source))
        found.push(...roundedNumberWarnings(pathOf(path, node), source));
    },
  });
  return found;
}

function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: offset - (before.lastIndexOf('\n') + 1) + 1 };
}

function problemResult(code: string, message: string, place?: { line: number; column: number }, hint?: string): Parsed {
  return { problems: [{ pointer: '', code, message, ...omitUndefined({ hint }), ...place }] };
}
