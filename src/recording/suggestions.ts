/**
 * Finds where literal values in a recording came from. A value in the input of
 * a step that an earlier output, or the input of the recording, holds too may be a reference. A person decides: equal
 * values can have nothing to do with each other.
 */
import type { RecordedStep, Suggestion } from '../contract/definitions/recording.ts';
import { isObject, type Json } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { childPointer, pointerParts } from '../json/pointer.ts';
import { resolve } from './references.ts';

const MAX_SUGGESTIONS = 200;
const MAX_ALTERNATIVES = 4;
/** Values of outputs that are compared, those of one output, and literals. */
const MAX_LEAVES = 20_000;
const MAX_LEAVES_PER_OUTPUT = 4_000;
const MAX_LITERALS = 1_000;
const MAX_TEXT_LENGTH = 1_000;
/** Equal values that are remembered, and the ends of parts that begin at one place. */
const MAX_EQUAL_VALUES = 8;
const MAX_PART_ENDS = 10;
/** Parts of texts: shorter ones stand in many words. */
const MIN_PART_LENGTH = 3;
const MAX_DEPTH = 20;
/** Members that a reference can name. */
const MEMBER = /^[A-Za-z_$][\w$-]*$/;
const BEFORE_PART = /[\w@.]$/;
const AFTER_PART = /^[\w$\-[]|^\.\w/;

interface Source {
  readonly value: string | number;
  readonly reference: string;
  /** The last member of the path. */
  readonly member: string;
  readonly depth: number;
  /** Of the step; -1 for the input of the recording. */
  readonly order: number;
}

/** The texts and numbers of earlier outputs, by their text. */
class ValueIndex {
  readonly #byText = new Map<string, Source[]>();
  #count = 0;

  /** Adds those of a value, up to a number. */
  collect(value: Json, reference: string, order: number): void {
    const limit = Math.min(MAX_LEAVES, this.#count + MAX_LEAVES_PER_OUTPUT);
    this.#add(value, { reference, member: '', depth: 0, order }, limit);
  }

  find(text: string): readonly Source[] {
    return this.#byText.get(text) ?? [];
  }

  #add(value: Json, at: Omit<Source, 'value'>, most: number): void {
    if (this.#count >= most) return;
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      if (text === '' || text.length > MAX_TEXT_LENGTH) return;
      this.#byText.set(text, [...(this.#byText.get(text) ?? []).slice(-MAX_EQUAL_VALUES), { ...at, value }]);
      this.#count += 1;
      return;
    }
    if (at.depth >= MAX_DEPTH || value === null || typeof value !== 'object') return;
    const depth = at.depth + 1;
    if (Array.isArray(value))
      for (const [index, item] of value.entries())
        this.#add(item, { ...at, reference: `${at.reference}[${index}]`, depth }, most);
    else
      for (const [key, item] of Object.entries(value))
        if (MEMBER.test(key)) this.#add(item, { ...at, reference: `${at.reference}.${key}`, member: key, depth }, most);
  }
}

/** The suggestions for all steps, in their order. */
export function suggestionsFor(input: Json, steps: readonly RecordedStep[]): Suggestion[] {
  const sources = new ValueIndex();
  sources.collect(input, '@input', -1);
  const found: Suggestion[] = [];
  let literals = 0;
  for (const [order, step] of steps.entries()) {
    const known = { input, steps: steps.slice(0, order) };
    for (const [pointer, value] of literalsIn(step.step['input'] ?? null)) {
      literals += 1;
      if (literals > MAX_LITERALS || found.length >= MAX_SUGGESTIONS) return found;
      const suggestion = suggestionFor(step.name, pointer, value, sources, known);
      if (suggestion !== undefined) found.push(suggestion);
    }
    if (step.status === 'completed') sources.collect(step.output ?? null, `@${step.name}`, order);
  }
  return found;
}

/** The text with every occurrence of `part` replaced that stands for itself, or undefined if there is none. */
export function withReference(text: string, part: string, reference: string): string | undefined {
  let written = '';
  let from = 0;
  let isFound = false;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (at < from) continue;
    const isOwn = !BEFORE_PART.test(text.slice(0, at)) && !AFTER_PART.test(text.slice(at + part.length));
    if (!isOwn) continue;
    written += text.slice(from, at) + reference;
    from = at + part.length;
    isFound = true;
  }
  return isFound ? written + text.slice(from) : undefined;
}

/** The texts and numbers of an input that are no references, with their places. */
function literalsIn(value: Json, at = ''): [pointer: string, value: string | number][] {
  if (typeof value === 'number') return [[at, value]];
  if (typeof value === 'string') return value === '' || value.startsWith('@') ? [] : [[at, value]];
  if (Array.isArray(value)) return value.flatMap((item, index) => literalsIn(item, childPointer(at, index)));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => literalsIn(member, childPointer(at, key)));
}

function suggestionFor(
  step: string,
  pointer: string,
  value: string | number,
  sources: ValueIndex,
  known: Parameters<typeof resolve>[1],
): Suggestion | undefined {
  const member = pointerParts(pointer).findLast((part) => !/^\d+$/.test(part)) ?? '';
  const equal = sources
    .find(String(value))
    .filter((one) => one.value === value && (!isCoincidental(value) || isSameName(one.member, member)));
  const [exact, ...others] = rankedByLikelihood(equal, member).filter(({ reference }) =>
    resolvesTo(reference, known, value),
  );
  if (exact !== undefined) {
    const { reference } = exact;
    return { step, pointer, value, reference, form: 'whole', written: reference, ...alternativesOf(others) };
  }
  if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH) return undefined;
  for (const part of replaceableParts(value)) {
    const [best, ...more] = rankedByLikelihood(sources.find(part), member);
    const written = best === undefined ? undefined : withReference(value, part, best.reference);
    if (best === undefined || written === undefined || !resolvesTo(written, known, value)) continue;
    return { step, pointer, value, reference: best.reference, form: 'within', written, ...alternativesOf(more) };
  }
  return undefined;
}

/** The parts of a text that a reference can replace, the longest first: it says most about where the text came from. */
function replaceableParts(text: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length; from++) {
    if (/\s/.test(text[from]!) || (from > 0 && BEFORE_PART.test(text[from - 1]!))) continue;
    for (let to = from + 1, ends = 0; to <= text.length && ends < MAX_PART_ENDS; to++) {
      if (/\s/.test(text[to - 1]!) || AFTER_PART.test(text.slice(to, to + 2))) continue;
      ends += 1;
      if (to - from >= MIN_PART_LENGTH) parts.push(text.slice(from, to));
    }
  }
  return parts.sort((a, b) => b.length - a.length);
}

function alternativesOf(others: readonly Source[]): Pick<Suggestion, 'alternatives'> {
  const alternatives = others.slice(0, MAX_ALTERNATIVES).map(({ reference }) => reference);
  return omitUndefined({ alternatives: alternatives.length === 0 ? undefined : alternatives });
}

/** Best first: a member of the same name, then the latest step, then the shortest path. */
const rankedByLikelihood = (sources: readonly Source[], member: string): Source[] =>
  [...sources].sort(
    (a, b) =>
      Number(isSameName(b.member, member)) - Number(isSameName(a.member, member)) ||
      b.order - a.order ||
      a.depth - b.depth,
  );

/** Values that are equal by chance: one digit, one letter. */
const isCoincidental = (value: string | number): boolean => String(value).length < 2;

const isSameName = (a: string, b: string): boolean => a !== '' && normalizedName(a) === normalizedName(b);
const normalizedName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Whether the text, with its references resolved, is the value. */
function resolvesTo(written: string, known: Parameters<typeof resolve>[1], value: Json): boolean {
  const resolved = resolve(written, known);
  return 'value' in resolved && resolved.value === value;
}
