/** Parses JSON from the texts of models, which may put it inside a Markdown fence. */
import type { Json } from './json.ts';

/** The possible JSON values of a text, the likeliest first; empty if it contains none. */
export function possibleJson(text: string): Json[] {
  const fenced = fencedText(text);
  const readings: Json[] = [];
  for (const written of fenced === undefined ? [text] : [text, fenced]) {
    const parsed = parsedJson(written);
    if (parsed !== undefined) readings.push(parsed);
  }
  return readings;
}

/** The value of a JSON text; undefined if it is not JSON. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The text between the first Markdown fence and the next one. */
function fencedText(text: string): string | undefined {
  const open = text.indexOf('```');
  const from = open < 0 ? -1 : text.indexOf('\n', open);
  const to = from < 0 ? -1 : text.indexOf('```', from);
  return to < 0 ? undefined : text.slice(from + 1, to);
}
