/** The host's own actions: limits, parameters and results of each. */
import type { HostAction } from '../../../actions/define.ts';
import type { HostActions } from '../../../actions/load.ts';
import { embeddableSchema } from '../action-schema.ts';
import { jsonSchemaOf } from '../language-schema.ts';
import { code } from '../page.ts';
import { fieldsOf, fieldTable, typeWords } from '../schema-tables.ts';

export function hostActions(actions: HostActions): string {
  if (actions.size === 0) return 'This host has no actions of its own.';
  return [...actions.values()].map(section).join('\n\n');
}

function section({ type, summary, description, input, output, isLight, timeoutMs }: HostAction): string {
  const result = embeddableSchema(jsonSchemaOf(output));
  const fields = fieldsOf(result);
  const light = isLight ? ' Light: it may run within the task of the run.' : '';
  return `### ${type}

${summary}${description === undefined ? '' : `\n\n${description}`}

At most ${timeoutMs.toLocaleString('en')} ms an attempt.${light} Its parameters:

${fieldTable(fieldsOf(embeddableSchema(jsonSchemaOf(input))))}

It returns ${fields.length === 0 ? `${typeWords(result)}.` : `${code('data')} with:\n\n${fieldTable(fields)}`}`;
}
