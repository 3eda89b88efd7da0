// The pages that are written by hand: their slots, their links, their lines.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_ACTIONS } from '../../../src/actions/load.ts';
import { WEBHOOK_SCHEMES } from '../../../src/contract/triggers/webhook-scheme.ts';
import { manual } from '../../../src/gateway/manual/manual.ts';
import { anchorOf, type Page } from '../../../src/gateway/manual/page.ts';
import { linksOf, type PageLink, projectPath, readPage } from '../../../src/gateway/manual/pages.ts';
import { SLOTS } from '../../../src/gateway/manual/slots/table.ts';
import { routes } from '../../../src/gateway/route-table.ts';
import { sourceRoot } from '../source-root.ts';

const folder = join(sourceRoot, 'src/gateway/manual/pages');
const names = readdirSync(folder).map((file) => file.replace(/\.md$/, ''));
const pages = new Map(names.map((name) => [name, readPage(name)]));
const links = [...pages.values()].flatMap((page) => linksOf(page).map((link) => ({ page: page.name, ...link })));
const slotOf = ({ title }: PageLink): string | undefined => /^slot: (.*)$/.exec(title ?? '')?.[1];
const served = manual(routes);

/** The text without its blocks of code. */
const prose = (markdown: string): string => markdown.replaceAll(/^```[\s\S]*?^```$/gm, '');
const headingsOf = ({ markdown }: Page): string[] =>
  [...prose(markdown).matchAll(/^#{2,4} (.*)$/gm)].map(([, heading = '']) => heading);

describe('the pages of the manual', () => {
  it('are all listed on the front page, once', () => {
    const listed = [...served.values()].flatMap(({ name, group }) =>
      group === undefined || group === 'Step kinds' ? [] : [name],
    );
    expect(listed.toSorted()).toEqual(names.filter((name) => name !== 'README').toSorted());
  });

  it('have only slots that the gateway fills, and the gateway fills no slot that no page has', () => {
    const used = links.flatMap((link) => slotOf(link) ?? []);
    expect(used.filter((name) => SLOTS[name] === undefined)).toEqual([]);
    expect(Object.keys(SLOTS).filter((name) => !used.includes(name))).toEqual([]);
    for (const { name, markdown } of served.values()) expect(markdown, name).not.toContain('"slot:');
  });

  it('get a text in every slot', () => {
    for (const link of links) {
      const slot = slotOf(link);
      if (slot === undefined) continue;
      const text = SLOTS[slot]!({ actions: NO_ACTIONS, routes, file: projectPath(link.href) });
      expect(text, slot).toMatch(/\S/);
      // A slot within a sentence shows the same number in a viewer of Markdown as in the gateway.
      if (!text.includes('\n') && /^[\d,]+$/.test(text)) expect(link.text, `${link.page}: ${slot}`).toBe(text);
    }
  });

  it('say of each signature scheme how its deliveries are verified and when they repeat', () => {
    const [, signatures = '', repeated = ''] =
      /\*\*Signatures\*\*(.*?)\*\*Repeated deliveries\*\*(.*?)`replayWindow`/s.exec(pages.get('triggers')!.markdown) ??
      [];
    const lacking = (text: string): string[] => WEBHOOK_SCHEMES.filter((scheme) => !text.includes(`\`${scheme}\``));
    expect({ signatures: lacking(signatures), repeated: lacking(repeated) }).toEqual({ signatures: [], repeated: [] });
  });

  it('lead only to files, pages and headings that exist', () => {
    const missing = links.filter(({ page, href }) => {
      if (/^https?:/.test(href)) return false;
      const [path = '', heading] = href.split('#');
      const target = path === '' ? pages.get(page) : pages.get(path.replace(/\.md$/, ''));
      if (path !== '' && !existsSync(join(folder, path))) return true;
      return heading !== undefined && (target === undefined || !headingsOf(target).map(anchorOf).includes(heading));
    });
    expect(missing).toEqual([]);
  });

  it('lead to headings by names that GitHub gives them too', () => {
    const github = (heading: string): string =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-');
    for (const page of pages.values())
      for (const heading of headingsOf(page)) expect(anchorOf(heading), page.name).toBe(github(heading));
  });

  it('lead, as they are served, only to headings that the served pages have', () => {
    const missing = [...served.values()].flatMap(({ name, markdown }) =>
      [...prose(markdown).matchAll(/\]\(\/docs\/?([\w-]*)#([\w-]+)\)/g)]
        .filter(([, page = '', heading = '']) => {
          const target = served.get(page);
          return target === undefined || !headingsOf(target).map(anchorOf).includes(heading);
        })
        .map(([link]) => `${name}: ${link}`),
    );
    expect(missing).toEqual([]);
  });
});
