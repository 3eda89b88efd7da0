/**
 * The dialects of definitions (LANGUAGE.md §9), and their conversion to the canonical form. An importer reports every
 * member that it cannot convert, with its pointer.
 */

import { type ClearSecret, extractSecrets } from '../definition/document/extract-secrets.ts';
import { didYouMean } from '../definition/document/names.ts';
import { normalizeDocument } from '../definition/document/normalize.ts';
import { schemaProblems } from '../definition/document/schema.ts';
import type { Definition, Problem } from '../definition/document/types.ts';
import { VettedDocument, vet, vetSize, vetSteps } from '../definition/document/vet.ts';
import { ImportContext, type ImportResult, originOf } from '../definition/import/import-context.ts';
import { isObject, type Json, type JsonObject, typeName } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { childPointer } from '../json/pointer.ts';
import { fromAgentOps } from './agent-ops/dialect.ts';
import { fromAlloy } from './alloy/dialect.ts';
import { DIALECT_NAMES, DIALECT_NUMBERS, type DialectNumber, dialectNumber } from './dialect-names.ts';
import { fromMesh } from './mesh/dialect.ts';
import { fromTale } from './tale/dialect.ts';

export type Dialect = 'canonical' | DialectNumber;

/** What a caller may call the dialect of a document: its number, or the name of its system. */
export const DIALECTS = ['canonical', ...DIALECT_NUMBERS, ...Object.values(DIALECT_NAMES)] as const;

export interface Conversion {
  readonly dialect: Dialect;
  /** The canonical definition without clear secrets; absent if the document cannot be converted. */
  readonly definition?: Definition;
  /** In its place, where the document has problems: its canonical form, with any members, without clear secrets. */
  readonly draft?: JsonObject;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** The clear secrets of the document, which are stored encrypted before the definition. */
  readonly secrets: readonly ClearSecret[];
  /** Converts a pointer into the canonical form to one into the written document. */
  readonly origin: (pointer: string) => string;
}

interface ConversionOptions {
  /** For an inline run, which is not stored and needs no name. */
  readonly inline?: boolean;
  /** The slug of the address, for a document with `steps` by slug that has no slug of its own. */
  readonly slug?: string;
}

/** The dialect of a document, by its outer members. The default is canonical. */
export function detectDialect(document: Json): Dialect {
  if (!isObject(document)) return 'canonical';
  const { steps, flow } = document;
  if (Array.isArray(document['stepsConfig']) || isObject(document['workflowConfig'])) return '000';
  if (document['starting_step_id'] !== undefined || isObject(flow) || (Array.isArray(flow) && steps === undefined))
    return '004';
  if (!Array.isArray(steps)) return 'canonical';
  if (steps.some((step) => isObject(step) && step['stepSlug'] !== undefined)) return '000';
  const first = steps.find(isObject);
  return first !== undefined &&
    first['type'] === undefined &&
    (first['action'] !== undefined || first['name'] !== undefined)
    ? '001'
    : '002';
}

/**
 * Converts a document of any dialect. Problems of form come first (`too_deep`, `forbidden_key`, `definition_too_large`,
 * …), then those of the importer, then those of the schema. src/check checks the configs of steps. Pointers are those
 * of the written document. Never throws.
 */
export function toCanonical(
  given: Json | VettedDocument,
  dialect?: string,
  options: ConversionOptions = {},
): Conversion {
  const context = new ImportContext();
  if (given instanceof VettedDocument) context.warnings.push(...(given.warnings ?? []));
  const json = given instanceof VettedDocument ? given.json : given;
  const written = withoutNotes(json);
  const document = withParsedSteps(written, context);
  const detected = dialect === undefined || dialect === '' ? detectDialect(document) : dialectOf(dialect);
  if (detected === undefined) return failedConversion('canonical', [unknownDialect(dialect ?? '')]);
  const malformed = [...context.problems, ...(given instanceof VettedDocument ? [] : vet(json))];
  if (malformed.length > 0) return failedConversion(detected, malformed);
  if (!isObject(written) || !isObject(document)) {
    const message = `Expected an object with steps, got ${typeName(written)}.`;
    return failedConversion(detected, [{ pointer: '', code: 'wrong_type', message }]);
  }
  const tooMany = vetSteps(countSteps(document), '/steps');
  if (tooMany.length > 0) return failedConversion(detected, tooMany);
  return detected === 'canonical'
    ? fromCanonical(withSlug(written, options.slug), context.warnings, options)
    : fromImported(detected, importers[detected](withSlug(document, options.slug), context), options);
}

/** The document without its outermost members `x-…`: notes of its author, and a place for the anchors of YAML. */
function withoutNotes(document: Json): Json {
  if (!isObject(document) || !Object.keys(document).some(isNote)) return document;
  return Object.fromEntries(Object.entries(document).filter(([name]) => !isNote(name)));
}

const isNote = (name: string): boolean => name.startsWith('x-');

/** The members that hold steps, which databases store as JSON texts. */
const STEP_HOLDERS = ['workflowConfig', 'stepsConfig', 'steps', 'flow'] as const;

/** The document with these members read, so that its dialect is seen and its steps are counted. */
function withParsedSteps(document: Json, context: ImportContext): Json {
  if (!isObject(document)) return document;
  const read = { ...document };
  for (const member of STEP_HOLDERS) {
    const value = document[member];
    if (typeof value === 'string') read[member] = context.readJsonText(value, childPointer('', member));
  }
  return read;
}

/** Adds the slug of the address to a document without one. */
function withSlug(document: JsonObject, slug: string | undefined): JsonObject {
  return slug !== undefined && document['slug'] === undefined && isObject(document['steps'])
    ? { ...document, slug }
    : document;
}

const importers: {
  readonly [dialect in DialectNumber]: (document: JsonObject, context: ImportContext) => ImportResult;
} = {
  '000': fromTale,
  '001': fromMesh,
  '002': fromAgentOps,
  '004': fromAlloy,
};

function fromCanonical(document: JsonObject, warnings: readonly Problem[], options: ConversionOptions): Conversion {
  const extracted = extractSecrets(normalizeDocument(document, options));
  const problems = [...schemaProblems(extracted.document), ...extracted.problems];
  const base = { dialect: 'canonical' as const, problems, warnings, secrets: extracted.secrets, origin: identity };
  return problems.length > 0
    ? { ...base, draft: extracted.document }
    : { ...base, definition: extracted.document as unknown as Definition };
}

function fromImported(dialect: DialectNumber, imported: ImportResult, options: ConversionOptions): Conversion {
  const origin = originOf(imported.origins);
  const { warnings } = imported;
  if (imported.document === undefined) return { dialect, problems: imported.problems, warnings, secrets: [], origin };
  const extracted = extractSecrets(normalizeDocument(imported.document, options));
  // The canonical form can be larger than the document, and deeper where JSON texts were read.
  const tooLarge = imported.hasJsonTexts ? vet(extracted.document) : vetSize(extracted.document);
  if (tooLarge.length > 0)
    return { dialect, problems: [...imported.problems, ...tooLarge], warnings, secrets: [], origin };
  const found = [...schemaProblems(extracted.document), ...extracted.problems].map((problem) => ({
    ...problem,
    pointer: origin(problem.pointer),
  }));
  const problems = [...imported.problems, ...found];
  const base = { dialect, problems, warnings, secrets: extracted.secrets, origin };
  return problems.length > 0
    ? { ...base, draft: extracted.document }
    : { ...base, definition: extracted.document as unknown as Definition };
}

function identity(pointer: string): string {
  return pointer;
}

function failedConversion(dialect: Dialect, problems: Problem[]): Conversion {
  return { dialect, problems, warnings: [], secrets: [], origin: identity };
}

function dialectOf(name: string): Dialect | undefined {
  return name === 'canonical' ? name : (dialectNumber(name) ?? DIALECT_NUMBERS.find((number) => number === name));
}

function unknownDialect(dialect: string): Problem {
  const hint = didYouMean(dialect, DIALECTS);
  const message = `Unknown dialect "${dialect.slice(0, 80)}": expected ${DIALECTS.join(', ')}.`;
  return { pointer: '', code: 'unknown_dialect', message, ...omitUndefined({ hint }) };
}

/** The number of steps at any depth, in any dialect. */
function countSteps(document: JsonObject): number {
  let count = 0;
  const open: Json[] = [document['steps'] ?? null, document['stepsConfig'] ?? null, document['flow'] ?? null];
  for (let steps = open.pop(); steps !== undefined; steps = open.pop()) {
    const list = Array.isArray(steps) ? steps : isObject(steps) ? Object.values(steps) : [];
    count += list.length;
    if (!Array.isArray(steps)) continue;
    for (const step of list) {
      if (isObject(step)) open.push(...[step['steps'], step['then'], step['else']].filter(Array.isArray));
    }
  }
  return count;
}
