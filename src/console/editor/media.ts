/** How texts of definitions are sent. Pure. */
import { parsed } from '../data/parsed.ts';

/** What a text is sent as: JSON only where it was kept as JSON, or is JSON without a doubt. */
export function mediaOf(text: string, before: 'yaml' | 'json'): 'application/json' | 'application/yaml' {
  const isLike = /^\s*\{/.test(text);
  return isLike && (before === 'json' || parsed(text).error === undefined) ? 'application/json' : 'application/yaml';
}
