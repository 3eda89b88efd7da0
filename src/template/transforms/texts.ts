/** Transforms of texts. Other values are converted: undefined and null to '', arrays and objects to JSON. */

import { toText } from '../clean-json.ts';
import { boundArray, boundString, type Evaluation } from '../evaluation.ts';
import { boundNeedle, toNumber, truthy } from '../operators.ts';
import { finderOf } from '../search.ts';
import type { Family } from './transform.ts';

/** The text of a value, charged. */
function text(value: unknown, evaluation: Evaluation): string {
  const found = toText(value, evaluation);
  boundString(evaluation, found.length);
  return found;
}

export const TEXTS: Family = {
  upper: {
    gives: 'The text in upper case.',
    apply: (value, _args, evaluation) => text(value, evaluation).toUpperCase(),
  },
  lower: {
    gives: 'The text in lower case.',
    apply: (value, _args, evaluation) => text(value, evaluation).toLowerCase(),
  },
  trim: {
    gives: 'The text without white space at its ends.',
    apply: (value, _args, evaluation) => text(value, evaluation).trim(),
  },
  split: {
    takes: "(separator = ',')",
    gives: 'The parts of the text between the separators.',
    arity: [0, 1],
    apply: (value, [separator], evaluation) => splitText(text(value, evaluation), separator ?? ',', evaluation),
  },
  replace: {
    takes: "(search, replacement = '')",
    gives: 'The text with every occurrence of search, a plain text, replaced.',
    arity: [1, 2],
    apply: (value, [search, replacement], evaluation) => {
      const source = text(value, evaluation);
      const wanted = toText(search, evaluation);
      if (wanted === '') return source;
      const parts = splitText(source, wanted, evaluation);
      const filler = toText(replacement, evaluation);
      boundString(evaluation, source.length + (parts.length - 1) * (filler.length - wanted.length));
      return parts.join(filler);
    },
  },
  string: {
    gives: 'The value as text; objects and arrays as JSON, undefined and null as the empty text.',
    apply: (value, _args, evaluation) => text(value, evaluation),
  },
  number: {
    gives: "The value as a number; null if it is not a number. '' is 0.",
    apply: (value, _args, evaluation) => toNumber(value, evaluation),
  },
  boolean: {
    gives: "Whether the value is truthy: '', 0, undefined and null are false, every other text is true.",
    apply: (value) => truthy(value),
  },
};

function splitText(source: string, separator: unknown, evaluation: Evaluation): string[] {
  const between = toText(separator, evaluation);
  boundNeedle(between, evaluation);
  boundString(evaluation, source.length);
  const parts =
    between.length > 0 ? partsOf(source, between, evaluation) : evaluation.asBefore() ? source.split('') : [...source];
  boundArray(evaluation, parts.length);
  return parts;
}

/** As `source.split(between)`, also where `between` is long. */
function partsOf(source: string, between: string, evaluation: Evaluation): string[] {
  const find = finderOf(between, source.length, evaluation);
  const parts: string[] = [];
  let from = 0;
  for (let at = find(source, 0); at >= 0; at = find(source, from)) {
    parts.push(source.slice(from, at));
    from = at + between.length;
  }
  parts.push(source.slice(from));
  return parts;
}
