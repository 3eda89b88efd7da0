/** JSON that models write: as such, or inside a Markdown fence. */
import type { Json } from '../../json/json.ts';

/** What a text can mean as JSON, the likeliest first; empty where it holds none. */
export function jsonIn(text: string): Json[] {
  const fenced = fencedText(text);
  const readings: Json[] = [];
  for (const written of fenced === undefined ? [text] : [text, fenced]) {
    const parsed = parsedJson(written);
    if (parsed !== undefined) readings.push(parsed);
  }
  return readings;
}

/** Undefined where the text is no JSON. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The text between the first Markdown fence and the next. */
function fencedText(text: string): string | undefined {
  const open = text.indexOf('```');
  const from = open < 0 ? -1 : text.indexOf('\n', open);
  const to = from < 0 ? -1 : text.indexOf('```', from);
  return to < 0 ? undefined : text.slice(from + 1, to);
}
