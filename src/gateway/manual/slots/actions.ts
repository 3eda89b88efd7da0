/** The host's own actions: limits, parameters and results of each. */
import type { HostAction } from '../../../actions/define.ts';
import type { HostActions } from '../../../actions/load.ts';
import { placedSchema } from '../action-schema.ts';
import { code } from '../page.ts';
import { jsonSchemaOf } from '../schema-json.ts';
import { fieldsOf, fieldTable, typeWords } from '../schema-words.ts';

export function hostActions(actions: HostActions): string {
  if (actions.size === 0) return 'This host has no actions of its own.';
  return [...actions.values()].map(section).join('\n\n');
}

function section({ type, summary, description, input, output, isLight, timeoutMs }: HostAction): string {
  const result = placedSchema(jsonSchemaOf(output));
  const fields = fieldsOf(result);
  const light = isLight ? ' Light: it may run within the task of the run.' : '';
  return `### ${type}

${summary}${description === undefined ? '' : `\n\n${description}`}

At most ${timeoutMs.toLocaleString('en')} ms an attempt.${light} Its parameters:

${fieldTable(fieldsOf(placedSchema(jsonSchemaOf(input))))}

It returns ${fields.length === 0 ? `${typeWords(result)}.` : `${code('data')} with:\n\n${fieldTable(fields)}`}`;
}
