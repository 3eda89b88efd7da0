/** The page of a step kind, made from the kind's own file: description, example, config schema, ports and output. */
import { stringify } from 'yaml';
import type { KindClass, StepKind } from '../../steps/kind.ts';
import { END_TARGET } from '../../steps/ports.ts';
import { jsonSchemaOf, portsAreFixed } from './language-schema.ts';
import { code, type Page } from './page.ts';
import { fieldsOf, fieldTable, objectOf } from './schema-tables.ts';

/** What the kinds of a class have in common: a title and a sentence for their list, and a sentence for each page. */
export const KIND_CLASS_TEXTS: {
  readonly [name in KindClass]: { readonly title: string; readonly all: string; readonly one: string };
} = {
  pure: {
    title: 'Decisions and data',
    all: 'They add no event to the history.',
    one: 'It adds no event to the history.',
  },
  effect: {
    title: 'Effects',
    all: 'They are activities: `retry`, `timeout` and `rollback` apply to them.',
    one: 'It is an activity: `retry`, `timeout` and `rollback` apply to it.',
  },
  wait: {
    title: 'Waits',
    all: 'While a run waits, nothing runs. A restart does not end the wait.',
    one: 'While it waits, nothing runs. A restart does not end the wait.',
  },
  container: {
    title: 'Loops and branches',
    all: 'They have a body, which some of their ports lead into.',
    one: 'It has a body, which some of its ports lead into.',
  },
  end: { title: 'Ends', all: 'No step follows them.', one: 'No step follows it.' },
};

export function kindPage(kind: StepKind): Page {
  const { type, aliases = [], summary } = kind;
  const also = aliases.length === 0 ? '' : ` It is also called ${aliases.map(code).join(', ')}.`;
  const markdown = `${summary}${also} ${KIND_CLASS_TEXTS[kind.class].one}

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
  return { name: type, title: type, group: 'Step kinds', markdown };
}

function configTables(kind: StepKind): string {
  const schema = jsonSchemaOf(kind.schema());
  const variants = Array.isArray(schema['anyOf']) ? schema['anyOf'].map(objectOf) : [schema];
  const tables = variants.map((variant) => fieldTable(fieldsOf(variant)));
  const hint = tables.length === 1 ? '' : 'One of these:\n\n';
  return `${hint}${tables.join('\n\n')}

The [modifiers](/docs/definition#step), such as \`when\`, \`retry\` and \`onError\`, are written beside \`config\`.`;
}

function portWords(kind: StepKind): string {
  const { names, normal, body } = kind.ports(kind.example);
  if (names.length === 0 && body === undefined) return 'It has none: no step follows it.';
  const into = body === 'any' ? 'every other name' : (body ?? []).map(code).join(', ');
  const listed = names.filter((name) => body === undefined || body === 'any' || !body.includes(name)).map(code);
  return [
    portsAreFixed(kind) || body === 'any'
      ? `It ends with ${listed.join(', ')}.`
      : `The config determines its ports. The example has ${listed.join(', ')}.`,
    into === '' ? '' : `Ports into the body: ${into}.`,
    normal === null ? '' : `A skipped step continues with ${code(normal)}.`,
    `It also has \`error\`, for a failure, and \`skipped\`. A port leads to a step, or to ${code(END_TARGET)}, ` +
      'which ends the run.',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
