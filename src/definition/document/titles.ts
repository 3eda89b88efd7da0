/** Titles of schemas that the manual has a word of its own for; editors show them too. */
export const DURATION_TITLE = 'duration';
export const INSTANT_TITLE = 'point in time';
