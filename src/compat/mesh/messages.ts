/** The engine's messages about expressions in the words of mesh, whose authors write `@name.path`. */
import type { Definition } from '../../definition/document/types.ts';

const PATH = /"(?:steps(?:\.([A-Za-z_]\w*)|\[["']([\w-]+)["']\])\.output\.data|(input|item|index)\b)/g;
/** A column is dropped, since it is one of a template that the importer wrote. */
const COLUMN = /^Column \d+: (?:(item|index)\b|(.))/;
const FALLBACK = /Add a fallback: .*$/;

/** The message for the author of a document of mesh. In other dialects it stays as it is. */
export function withDialectTerms({ dialect, steps }: Definition, message: string): string {
  if (dialect !== '001') return message;
  return message
    .replace(COLUMN, (_all, root?: string, first = '') => (root === undefined ? first.toUpperCase() : `@${root}`))
    .replaceAll(PATH, (_all, plain?: string, quoted?: string, root?: string) => {
      const slug = plain ?? quoted ?? '';
      return `"@${root ?? (Object.hasOwn(steps, slug) ? steps[slug]?.name : undefined) ?? slug}`;
    })
    .replace(FALLBACK, 'Give it a value in the step before, or use the reference as the whole text, which gives null.');
}
