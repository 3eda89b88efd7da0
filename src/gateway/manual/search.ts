/** The search of the manual: every word of the query must be in a section, or in the title of its page. */
import { z } from 'zod';
import type { Page } from './schema-words.ts';

export interface Hit {
  readonly page: Page;
  /** The heading of the section; absent before the first one. */
  readonly heading?: string;
  /** The line that has the most of the words, as plain text. */
  readonly excerpt: string;
}

export const LONGEST_QUERY = 200;

export const docsQuery = z.strictObject({
  q: z
    .string()
    .max(LONGEST_QUERY)
    .optional()
    .describe('Words to search the manual for; the answer lists what has them.'),
});

const MOST_HITS = 40;
const MOST_WORDS = 8;
const EXCERPT_LENGTH = 240;

/** The words of a query, in lower case. */
export function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== '').slice(0, MOST_WORDS);
}

/** Sections that have all of the words, the best first. Words in titles count most, then those in headings. */
export function searchManual(pages: Iterable<Page>, query: string): Hit[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const found: (Hit & { score: number })[] = [];
  for (const page of pages) {
    const title = `${page.name} ${page.title}`.toLowerCase();
    for (const section of sectionsOf(page)) {
      const { heading = '' } = section;
      const head = heading.toLowerCase();
      const body = section.text.toLowerCase();
      const score = words.reduce(
        (sum, word) => {
          const points = title.includes(word) ? 6 : head.includes(word) ? 3 : body.includes(word) ? 1 : Number.NaN;
          return sum + points + (body.includes(word) ? 1 : 0);
        },
        exact(title, words),
      );
      // A page that is found by its title alone is one hit, not one for each of its sections.
      const isOfSection = heading === '' || words.some((word) => head.includes(word) || body.includes(word));
      if (!Number.isNaN(score) && isOfSection) {
        const excerpt = excerptOf(section.text, words);
        found.push({ page, ...(heading === '' ? {} : { heading }), excerpt, score });
      }
    }
  }
  // The sort keeps the manual's order among equals.
  return found
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_HITS)
    .map(({ score: _score, ...hit }) => hit);
}

/** A page whose very name is asked for comes first. */
const exact = (title: string, words: readonly string[]): number =>
  words.some((word) => title.split(' ').includes(word)) ? 10 : 0;

interface Section {
  readonly heading?: string;
  readonly text: string;
}

function sectionsOf({ summary, markdown }: Page): Section[] {
  return `${summary}\n${markdown}`.split(/^(?=#{2,4} )/m).map((part) => {
    const [, heading] = /^#+ (.*)\n?/.exec(part) ?? [];
    return heading === undefined
      ? { text: plain(part) }
      : { heading: plain(heading).trim(), text: plain(part.slice(part.indexOf('\n') + 1)) };
  });
}

/** Markdown without its signs: links are their texts, cells are divided by dashes. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^\| ?-{3}.*$|^```.*$/gm, '')
    .replaceAll(/^\| ?|\s*\|\s*$/gm, '')
    .replaceAll(/ *(?<!\\)\| */g, ' – ')
    .replaceAll(/\\\|/g, '|')
    .replaceAll(/[`*]/g, '');
}

function excerptOf(text: string, words: readonly string[]): string {
  let best = '';
  let most = -1;
  for (const line of text.split('\n')) {
    const lower = line.toLowerCase();
    const has = words.filter((word) => lower.includes(word)).length;
    if (line.trim() === '' || has <= most) continue;
    best = line.trim();
    most = has;
  }
  if (best.length <= EXCERPT_LENGTH) return best;
  const first = Math.min(...words.map((word) => best.toLowerCase().indexOf(word)).filter((at) => at >= 0), best.length);
  const from = Math.max(0, Math.min(first - 80, best.length - EXCERPT_LENGTH));
  return `${from === 0 ? '' : '…'}${best.slice(from, from + EXCERPT_LENGTH)}…`;
}
