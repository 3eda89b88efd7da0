/** The manual's page of the host's own actions. */
import type { HostAction } from '../../actions/define.ts';
import type { HostActions } from '../../actions/load.ts';
import { placedSchema } from './action-schema.ts';
import { jsonSchemaOf } from './schema-json.ts';
import { code, fieldsOf, fieldTable, type Page, typeWords } from './schema-words.ts';

const ADDING = `An action is a file in the folder that the setting \`SIGNALBOX_ACTIONS\` names: a module that exports what \`defineAction\`
gives. Worker, gateway and command line read the folder when they start.

\`\`\`js
import { defineAction } from 'signalbox/action';
import { z } from 'zod';

export default defineAction({
  type: 'greeting.make',
  summary: 'Greets somebody.',
  input: z.object({ name: z.string().describe('Whom.') }),
  output: z.object({ text: z.string() }),
  light: true,
  run: ({ name }) => ({ text: \`Hello, \${name}\` }),
});
\`\`\`

A step of kind [action](/docs/action) with \`type: greeting.make\` and \`parameters: {name: '{{ input.name }}'}\` runs it.
`;

export function actionsPage(actions: HostActions): Page {
  const listed = [...actions.values()].map(section).join('\n');
  const markdown = `${actions.size === 0 ? 'This host has no actions of its own.\n' : listed}
## Adding one

${ADDING}`;
  return { name: 'actions', title: 'Host actions', summary: "The host's own actions.", markdown };
}

function section({ type, summary, description, input, output, isLight, timeoutMs }: HostAction): string {
  const given = placedSchema(jsonSchemaOf(output));
  const fields = fieldsOf(given);
  const limits = `At most ${timeoutMs.toLocaleString('en')} ms an attempt.${isLight ? ' Light: it may run within the task of the run.' : ''}`;
  return `## ${type}

${summary}${description === undefined ? '' : `\n\n${description}`}

${limits} Its parameters:

${fieldTable(fieldsOf(placedSchema(jsonSchemaOf(input))))}

It gives ${fields.length === 0 ? `${typeWords(given)}.` : `${code('data')} with:\n\n${fieldTable(fields)}`}
`;
}
