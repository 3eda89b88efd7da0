import { getOwn, type Json } from '../../json/json.ts';

/** What a form calls a field: its `label` or `title`, or its name in words (`costCentre` is `Cost centre`). */
export function fieldLabel(name: string, field: Json): string {
  for (const member of ['label', 'title']) {
    const written = getOwn(field, member);
    if (typeof written === 'string' && written !== '') return written;
  }
  const words = name
    .replace(/[._-]+/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)
    .trim();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
