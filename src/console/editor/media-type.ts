/** The media type of a definition's text. Pure. */
import { parseJsonInput } from '../data/parse-json-input.ts';

/** The media type to send a text with: JSON only if it was stored as JSON, or parses as JSON. */
export function mediaTypeOf(text: string, storedMedia: 'yaml' | 'json'): 'application/json' | 'application/yaml' {
  const looksLikeJson = /^\s*\{/.test(text);
  return looksLikeJson && (storedMedia === 'json' || parseJsonInput(text).error === undefined)
    ? 'application/json'
    : 'application/yaml';
}
