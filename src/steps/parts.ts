/**
 * Long synchronous work in parts. A worker runs all parts without a pause; the gateway serves requests between them.
 * The parts and their order are the same in both.
 */
export type Parts<T = void> = Generator<undefined, T, undefined>;

/** Steps that are compiled or walked in one part: a few milliseconds of work. */
export const PART_STEPS = 16;

/** Runs all parts without a pause. */
export function runParts<T>(parts: Parts<T>): T {
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}
