/** What is searched for one secret. It is built once, perhaps in another thread, and holds no part of the secret. */
import { bytesOf, type HashBases, type Needles, needlesOf } from './scrub-search.ts';
import { scrubTextsOf } from './scrub-shapes.ts';

export interface ScrubTable {
  readonly shapes: Needles;
  /** Of the encodings that a text with a shape in it contains: decoding every word would take too long. */
  readonly encodings: Needles;
  /** The bytes of the longest shape. */
  readonly longestBytes: number;
}

export function scrubTableOf(value: string, bases: HashBases): ScrubTable {
  const { shapes, encodings } = scrubTextsOf(value);
  let longestBytes = 0;
  for (const shape of shapes) longestBytes = Math.max(longestBytes, Buffer.byteLength(shape));
  return { shapes: needlesOf(shapes, bases), encodings: needlesOf(encodings, bases), longestBytes };
}

export const bytesOfTable = ({ shapes, encodings }: ScrubTable): number => bytesOf(shapes) + bytesOf(encodings);
