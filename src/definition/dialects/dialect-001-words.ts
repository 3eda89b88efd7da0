/** What the engine says of expressions, in the words of document 001, whose authors write `@name.path` and no templates. */
import type { Definition } from '../document/types.ts';

const PATH = /"(?:steps(?:\.([A-Za-z_]\w*)|\[["']([\w-]+)["']\])\.output\.data|(input|item|index)\b)/g;
/** Columns are those of the templates that the importer wrote. */
const COLUMN = /^Column \d+: (?:(item|index)\b|(.))/;
const FALLBACK = /Give a fallback: .*$/;

/** A message about an expression as the author of the document can follow it; as it is in every other dialect. */
export function inDialectWords({ dialect, steps }: Definition, message: string): string {
  if (dialect !== '001') return message;
  return message
    .replace(COLUMN, (_all, root?: string, first = '') => (root === undefined ? first.toUpperCase() : `@${root}`))
    .replaceAll(PATH, (_all, plain?: string, quoted?: string, root?: string) => {
      const slug = plain ?? quoted ?? '';
      return `"@${root ?? (Object.hasOwn(steps, slug) ? steps[slug]?.name : undefined) ?? slug}`;
    })
    .replace(
      FALLBACK,
      'Give it a value in the step before, or let the text be the reference alone: that gives null where there is nothing.',
    );
}
