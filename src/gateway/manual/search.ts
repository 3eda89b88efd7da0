/**
 * The search of the manual: a section is found if it, or the title of its page, has every word of the query. By hand:
 * the manual is small enough to be read for each query, so the index that packages make is not needed.
 */
import { z } from 'zod';
import type { Page } from './page.ts';

export interface Hit {
  readonly page: Page;
  /** The heading of the section. Absent for the text before the first heading. */
  readonly heading?: string;
  /** The line with the most words of the query, as plain text. */
  readonly excerpt: string;
}

export const MAX_QUERY = 200;

export const docsQuery = z.strictObject({
  q: z
    .string()
    .max(MAX_QUERY)
    .optional()
    .describe('Words to search for. The answer lists the sections that have all of them.'),
});

const MAX_HITS = 40;
const MAX_WORDS = 8;
const EXCERPT_LENGTH = 240;
/** The end of a long line whose text continues on the next one. */
const WRAPPED = /(?<=[^\n]{70}[^\n|])\n *(?=[^\s|#`-])/g;

/** The words of a query, in lower case. */
export function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== '').slice(0, MAX_WORDS);
}

/** Sections that have all words, the best first. A word in a title counts most, then one in a heading. */
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
      // A page that matches by its title alone is one hit, not one per section.
      const isOfSection = heading === '' || words.some((word) => head.includes(word) || body.includes(word));
      if (!Number.isNaN(score) && isOfSection) {
        const excerpt = excerptOf(section.text, words);
        found.push({ page, ...(heading === '' ? {} : { heading }), excerpt, score });
      }
    }
  }
  // Equal hits keep the order of the manual.
  return found
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_HITS)
    .map(({ score: _score, ...hit }) => hit);
}

/** Puts a page first if the query names it. */
const exact = (title: string, words: readonly string[]): number =>
  words.some((word) => title.split(' ').includes(word)) ? 10 : 0;

interface Section {
  readonly heading?: string;
  readonly text: string;
}

function sectionsOf({ markdown }: Page): Section[] {
  return markdown.split(/^(?=#{2,4} )/m).map((part) => {
    const [, heading] = /^#+ (.*)\n?/.exec(part) ?? [];
    return heading === undefined
      ? { text: plain(part) }
      : { heading: plain(heading).trim(), text: plain(part.slice(part.indexOf('\n') + 1)) };
  });
}

/** Markdown as plain text: a link becomes its text, cells are separated by dashes, a wrapped line is one line. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(WRAPPED, ' ')
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
