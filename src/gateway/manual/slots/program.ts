/** A program of test/programs as an example. The tests run each of them, so its trace is true. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse } from 'yaml';

/** The members of the file that are shown, with the words before each. */
const SHOWN = [
  ['definition', ''],
  ['input', 'It starts with this input:'],
  ['effects', 'The activities answer, attempt by attempt:'],
  ['signals', 'These signals arrive:'],
  ['expect', 'The result, and the visits in order of their start (path, status, port):'],
] as const;

/**
 * The program's purpose, its definition, what happens to the run, and the result. `file` is its path in the project.
 */
export function program(file: string): string {
  const name = basename(file);
  // The build keeps the path: dist has the same folders as the project.
  const text = readFileSync(new URL(`../../../../test/programs/${name}`, import.meta.url), 'utf8');
  const sections = sectionsOf(text);
  const definition = sections.get('definition') ?? '';
  // The tests name a definition after its file, unless it has a name.
  if (!/^(name|slug): /m.test(definition))
    sections.set('definition', `slug: ${name.replace('.yaml', '')}\n${definition}`);
  const { about } = parse(text) as { readonly about: string };
  const shown = SHOWN.flatMap(([member, words]) => {
    const yaml = sections.get(member);
    return yaml === undefined ? [] : [...(words === '' ? [] : [words]), `\`\`\`yaml\n${yaml}\n\`\`\``];
  });
  return [withoutCitation(about), ...shown, `From \`${file}\`, which the tests run.`].join('\n\n');
}

/** The text of each member of the file, as the file writes it. A block loses its indentation. */
function sectionsOf(text: string): Map<string, string> {
  return new Map(
    text.split(/^(?=\w+:)/m).map((section) => {
      const [name = ''] = section.split(':', 1);
      return [name, unindented(section.slice(name.length + 1))];
    }),
  );
}

const unindented = (value: string): string =>
  value.startsWith('\n') ? value.replace(/^\n/, '').replaceAll(/^ {2}/gm, '').trimEnd() : value.trim();

/** `§2.6: text` cites the language's document, which readers of the manual do not need. */
const withoutCitation = (about: string): string => {
  const text = about.replace(/^(§[\d.]+(, )?)+: /, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.');
};
