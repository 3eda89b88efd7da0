/** Lengths of a style in pixels: Preact takes a number as it is. */

type Lengths = { readonly [property: string]: number };

/** `{ left: 4 }` as `{ left: '4px' }`. */
export const pixels = <Given extends Lengths>(lengths: Given): { readonly [Name in keyof Given]: string } =>
  Object.fromEntries(Object.entries(lengths).map(([name, length]) => [name, `${length}px`])) as {
    readonly [Name in keyof Given]: string;
  };
