/** How texts of definitions are sent. Pure. */

/** What a text is sent as: JSON only where it was kept as JSON, or is JSON without a doubt. */
export function mediaOf(text: string, before: 'yaml' | 'json'): 'application/json' | 'application/yaml' {
  const isLike = /^\s*\{/.test(text);
  return isLike && (before === 'json' || isJson(text)) ? 'application/json' : 'application/yaml';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
