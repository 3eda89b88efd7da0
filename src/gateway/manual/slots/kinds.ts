/** The list of step kinds, by class. */
import type { KindClass, StepKind } from '../../../steps/kind.ts';
import { kinds } from '../../../steps/kinds/table.ts';
import { CLASSES } from '../kind-page.ts';
import { code, table } from '../page.ts';

export function kindList(): string {
  const classes = Object.entries(CLASSES) as [KindClass, (typeof CLASSES)[KindClass]][];
  return classes
    .map(([name, { title, all }]) => {
      const rows = kinds.filter((kind) => kind.class === name).map((kind) => [linkTo(kind), kind.summary]);
      return `### ${title}\n\n${all}\n\n${table(['Kind', 'Purpose'], rows)}`;
    })
    .join('\n\n');
}

const linkTo = ({ type, aliases = [] }: StepKind): string =>
  [`[${code(type)}](/docs/${type})`, ...aliases.map(code)].join(' ');
