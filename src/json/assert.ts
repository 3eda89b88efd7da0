/**
 * States what other code has made sure of, where a reader of this place cannot see it. It is our own, since workflows
 * and browsers have none.
 * @throws Error where it does not hold, which is a defect of this program
 */
export function assert(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new Error(sentence);
}
