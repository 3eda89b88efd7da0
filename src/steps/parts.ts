/**
 * Long synchronous work in parts. Who has all the time (a worker) does it as a whole; who serves others meanwhile (the
 * gateway) stops between the parts. The parts and their order are the same either way.
 */
export type Parts<T = void> = Generator<undefined, T, undefined>;

/** Steps that are compiled or walked in one part: some milliseconds of work. */
export const PART_STEPS = 16;

/** Does all parts at once. */
export function runParts<T>(parts: Parts<T>): T {
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}
