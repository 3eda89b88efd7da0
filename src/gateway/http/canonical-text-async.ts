/** The canonical text of a request's body, which may have megabytes: other requests are served meanwhile. */
import { CooperativeScheduler } from '../../client/concurrency/cooperative-scheduler.ts';
import { canonicalChunks } from '../../json/canonical-text.ts';
import type { Json } from '../../json/json.ts';
import type { Chunks } from '../../steps/chunks.ts';

export const canonicalTextAsync = (value: Json): Promise<string> => new CooperativeScheduler().run(joined(value));

function* joined(value: Json): Chunks<string> {
  let text = '';
  for (const chunk of canonicalChunks(value)) {
    // A small body has one chunk, and does not yield.
    if (text !== '') yield;
    text += chunk;
  }
  return text;
}
