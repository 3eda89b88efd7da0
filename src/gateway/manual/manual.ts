/**
 * The manual: one page a step kind and a few about what they share, in Markdown. Everything that the code knows is taken
 * from there (kinds, schemas, transforms, roots, codes, settings, signals, limits), so the manual cannot lag behind it.
 */
import { stringify } from 'yaml';
import { type HostActions, NO_ACTIONS } from '../../actions/load.ts';
import type { KindClass, StepKind } from '../../steps/kind.ts';
import { kinds } from '../../steps/kinds/table.ts';
import { END_TARGET } from '../../steps/ports.ts';
import { topics } from './docs-topics.ts';
import { jsonSchemaOf, portsAreFixed } from './schema-json.ts';
import { code, fieldsOf, fieldTable, objectOf, type Page, table } from './schema-words.ts';

const CLASSES: { readonly [name in KindClass]: string } = {
  pure: 'Costs no event of history.',
  effect: 'Does something outside: an activity, which `retry`, `timeout` and `rollback` are for.',
  wait: 'Waits; nothing runs meanwhile, restarts included.',
  container: 'Has a body, which its ports lead into.',
  end: 'Ends the walk: nothing comes after it.',
};

export type Manual = ReadonlyMap<string, Page>;

/** Every page by its name, the front page first. */
export function manual(actions: HostActions = NO_ACTIONS): Manual {
  const about = topics(actions);
  return new Map([frontPage(about), ...about, ...kinds.map(kindPage)].map((page) => [page.name, page]));
}

/** The page of that name; a kind's aliases name its page too. */
export function pageOf(pages: Manual, name: string): Page | undefined {
  const kind = kinds.find((one) => one.aliases?.includes(name) === true);
  return pages.get(kind?.type ?? name);
}

function frontPage(about: readonly Page[]): Page {
  const byClass = (Object.keys(CLASSES) as KindClass[]).map((name) => {
    const rows = kinds.filter((kind) => kind.class === name).map((kind) => [linkTo(kind), kind.summary]);
    return `${CLASSES[name]}\n\n${table(['Kind', ''], rows)}`;
  });
  const markdown = `A definition says which steps there are and where each leads; a run walks it. Definitions are YAML or JSON. An editor completes
and checks them by [the JSON Schema](/schema.json): \`# yaml-language-server: $schema=…/schema.json\` as the first line of a YAML file, the member \`$schema\` in JSON.

${table(
  ['Page', ''],
  about.map(({ name, title, summary }) => [`[${title}](/docs/${name})`, summary]),
)}

Every page is Markdown too, at its address with \`.md\` behind it.

## Step kinds

${byClass.join('\n\n')}
`;
  return { name: '', title: 'Signalbox', summary: 'The manual.', markdown };
}

const linkTo = ({ type, aliases = [] }: StepKind): string =>
  [`[${code(type)}](/docs/${type})`, ...aliases.map(code)].join(' ');

function kindPage(kind: StepKind): Page {
  const { type, aliases = [], summary } = kind;
  const also = aliases.length === 0 ? '' : ` Also called ${aliases.map(code).join(', ')}.`;
  const markdown = `${summary}${also} ${CLASSES[kind.class]}

${kind.description}

## Example

\`\`\`yaml
${stringify({ a_step: kind.example }, { lineWidth: 100 }).trimEnd()}
\`\`\`

## Config

${configTables(kind)}

## Ports

${portWords(kind)}

## Output

${kind.output}
`;
  return { name: type, title: type, summary, markdown };
}

function configTables(kind: StepKind): string {
  const schema = jsonSchemaOf(kind.schema());
  const variants = Array.isArray(schema['anyOf']) ? schema['anyOf'].map(objectOf) : [schema];
  const tables = variants.map((variant) => fieldTable(fieldsOf(variant)));
  const hint = tables.length === 1 ? '' : 'One of these:\n\n';
  return `${hint}${tables.join('\n\n')}

The [modifiers](/docs/definition#step) \`when\`, \`retry\`, \`onError\` and the others stand beside \`config\`.`;
}

function portWords(kind: StepKind): string {
  const { names, normal, body } = kind.ports(kind.example);
  if (names.length === 0 && body === undefined) return 'None: nothing comes after it.';
  const into = body === 'any' ? 'every other name' : (body ?? []).map(code).join(', ');
  const listed = names.filter((name) => body === undefined || body === 'any' || !body.includes(name)).map(code);
  return [
    portsAreFixed(kind) || body === 'any'
      ? `${listed.join(', ')}.`
      : `As the config says; in the example ${listed.join(', ')}.`,
    into === '' ? '' : `Into the body: ${into}.`,
    normal === null ? '' : `The normal one, by which a step that is skipped goes on, is ${code(normal)}.`,
    `Beside them \`error\`, when the step fails, and \`skipped\`. A port leads to a step, or with ${code(END_TARGET)} to the end of the run.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
