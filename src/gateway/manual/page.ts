/** A page of the manual, and the pieces of Markdown that generated parts of it are made of. */

export interface Page {
  /** The last part of its address, `/docs/{name}`. The front page has the name ''. */
  readonly name: string;
  readonly title: string;
  /** The part of the menu that lists it. Absent on the front page. */
  readonly group?: string;
  /** Without the title. */
  readonly markdown: string;
}

/** The address of a page. */
export const addressOf = (name: string): string => (name === '' ? '/docs' : `/docs/${name}`);

/** The `id` of a heading, which the fragment of a link names. GitHub makes the same one of plain words. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** A table in Markdown. Cells are Markdown too; a bar inside a cell is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');

/** Text as inline code. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}
