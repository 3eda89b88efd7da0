/** Titles of schemas that the manual and editors show. */
export const DURATION_TITLE = 'duration';
export const INSTANT_TITLE = 'point in time';
