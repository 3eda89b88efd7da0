/**
 * All transforms of the language (LANGUAGE.md §4). A new transform is one entry in the file of its family. The table is
 * a map and not an object, so that `constructor` is not a transform.
 */
import { DATES } from './dates.ts';
import { ENCODINGS } from './encodings.ts';
import { LISTS } from './lists.ts';
import { NUMBERS } from './numbers.ts';
import { OBJECTS } from './objects.ts';
import { TEXTS } from './texts.ts';
import type { Transform, TransformDeclarations } from './transform.ts';

const DECLARATIONS: TransformDeclarations = { ...TEXTS, ...LISTS, ...OBJECTS, ...ENCODINGS, ...NUMBERS, ...DATES };

export const TRANSFORMS: ReadonlyMap<string, Transform> = new Map(
  Object.entries(DECLARATIONS).map(([name, transform]) => [name, { takes: '', arity: [0, 0], ...transform }]),
);
