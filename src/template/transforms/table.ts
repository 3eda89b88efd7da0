/**
 * Every transform of the language (LANGUAGE.md §4). A new one is one entry of its family's file; a map, and no object, so that
 * `constructor` is no transform.
 */
import { DATES } from './dates.ts';
import { ENCODINGS } from './encodings.ts';
import { LISTS } from './lists.ts';
import { NUMBERS } from './numbers.ts';
import { OBJECTS } from './objects.ts';
import { TEXTS } from './texts.ts';
import type { Transform } from './transform.ts';

export const TRANSFORMS: ReadonlyMap<string, Transform> = new Map<string, Transform>([
  ...Object.entries(TEXTS),
  ...Object.entries(LISTS),
  ...Object.entries(OBJECTS),
  ...Object.entries(ENCODINGS),
  ...Object.entries(NUMBERS),
  ...Object.entries(DATES),
]);
