/** Transforms of texts. Other values are converted: undefined and null to '', arrays and objects to JSON. */

import { toText } from '../clean-json.ts';
import { chargeArray, chargeString, type Evaluation } from '../evaluation.ts';
import { checkNeedleLength, toNumber, truthy } from '../operators.ts';
import { createFinder } from '../text-search.ts';
import type { TransformDeclarations } from './transform.ts';

/** The text of a value, charged. */
function chargedText(value: unknown, evaluation: Evaluation): string {
  const found = toText(value, evaluation);
  chargeString(evaluation, found.length);
  return found;
}

export const TEXTS: TransformDeclarations = {
  upper: {
    gives: 'The text in upper case.',
    apply: (value, _args, evaluation) => chargedText(value, evaluation).toUpperCase(),
  },
  lower: {
    gives: 'The text in lower case.',
    apply: (value, _args, evaluation) => chargedText(value, evaluation).toLowerCase(),
  },
  trim: {
    gives: 'The text without white space at its ends.',
    apply: (value, _args, evaluation) => chargedText(value, evaluation).trim(),
  },
  split: {
    takes: "(separator = ',')",
    gives: 'The parts of the text between the separators.',
    arity: [0, 1],
    apply: (value, [separator], evaluation) => splitText(chargedText(value, evaluation), separator ?? ',', evaluation),
  },
  replace: {
    takes: "(search, replacement = '')",
    gives: 'The text with every occurrence of search, a plain text, replaced.',
    arity: [1, 2],
    apply: (value, [search, replacement], evaluation) => {
      const source = chargedText(value, evaluation);
      const wanted = toText(search, evaluation);
      if (wanted === '') return source;
      const parts = splitText(source, wanted, evaluation);
      const filler = toText(replacement, evaluation);
      chargeString(evaluation, source.length + (parts.length - 1) * (filler.length - wanted.length));
      return parts.join(filler);
    },
  },
  string: {
    gives: 'The value as text; objects and arrays as JSON, undefined and null as the empty text.',
    apply: (value, _args, evaluation) => chargedText(value, evaluation),
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
  const separatorText = toText(separator, evaluation);
  checkNeedleLength(separatorText, evaluation);
  chargeString(evaluation, source.length);
  const parts =
    separatorText.length > 0
      ? splitByFinder(source, separatorText, evaluation)
      : evaluation.isLegacy()
        ? source.split('')
        : [...source];
  chargeArray(evaluation, parts.length);
  return parts;
}

/** As `source.split(separatorText)`, in linear time also for a long separator. */
function splitByFinder(source: string, separatorText: string, evaluation: Evaluation): string[] {
  const find = createFinder(separatorText, source.length, evaluation);
  const parts: string[] = [];
  let from = 0;
  for (let at = find(source, 0); at >= 0; at = find(source, from)) {
    parts.push(source.slice(from, at));
    from = at + separatorText.length;
  }
  parts.push(source.slice(from));
  return parts;
}
