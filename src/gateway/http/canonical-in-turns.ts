/** The canonical text of a request's body, which may have megabytes: other requests are served meanwhile. */
import { Turns } from '../../client/temporal/turns.ts';
import { canonicalPieces } from '../../json/canonical-text.ts';
import type { Json } from '../../json/json.ts';
import type { Parts } from '../../steps/parts.ts';

export const canonicalInTurns = (value: Json): Promise<string> => new Turns().take(joined(value));

function* joined(value: Json): Parts<string> {
  let text = '';
  for (const piece of canonicalPieces(value)) {
    // A small body has one piece, and makes no pause.
    if (text !== '') yield;
    text += piece;
  }
  return text;
}
