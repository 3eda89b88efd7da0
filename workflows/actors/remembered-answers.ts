/**
 * The answers to the latest requests of an actor, by request key, oldest first. They are carried across
 * continue-as-new, since Temporal executes an update id again there (TEMPORAL.md §2).
 */
import type { RememberedAnswers } from '../../src/contract/actors.ts';

type RememberedAnswer = RememberedAnswers[number];

/** A client repeats a request within seconds. */
const MAX_ANSWERS = 64;
/** Of all answers but the latest, as JSON: one payload carries them with the rest of the state. */
const MAX_CHARACTERS = 300_000;

export function recall(answers: RememberedAnswers, key: string): RememberedAnswer | undefined {
  return answers.find((entry) => entry.key === key);
}

/** The answers with a new one. The oldest ones go where there are too many. */
export function remember(answers: RememberedAnswers, latest: RememberedAnswer): RememberedAnswers {
  const all = [...answers, latest];
  let from = Math.max(0, all.length - MAX_ANSWERS);
  let characters = 0;
  for (let at = all.length - 2; at >= from; at--) {
    characters += JSON.stringify(all[at]).length;
    if (characters > MAX_CHARACTERS) from = at + 1;
  }
  return all.slice(from);
}
