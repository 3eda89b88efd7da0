/** The manual's page of the HTTP API, made from the same table as the OpenAPI document. */
import type { JsonObject } from '../../json/json.ts';
import type { Route } from '../http/route.ts';
import { documentedPath, parametersOf, problemsOf } from './openapi-document.ts';
import { operations } from './openapi-operations.ts';
import { jsonSchemaOf } from './schema-json.ts';
import { code, fieldsOf, fieldTable, objectOf, type Page, table } from './schema-words.ts';

export function apiPage(): Page {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const sections = tags.map((tag) => {
    const ours = operations.filter((operation) => operation.tag === tag);
    const list = table(
      ['Request', ''],
      ours.map(({ method, path, summary }) => [code(`${method} ${documentedPath(path)}`), summary]),
    );
    return `## ${tag}\n\n${list}\n\n${ours.map(operationWords).join('\n\n')}`;
  });
  const markdown = `For clients and tools it is described by [OpenAPI 3.1](/openapi.json). Bodies are JSON, definitions YAML too. Unknown parameters and members are refused; errors
are [problems](/docs/problems). A problem's \`pointer\` names a place in the body; of a run's input it is a place within the input, and of its state it begins
with \`/state\`. Lists answer \`{items, nextCursor?}\` and take \`limit\` and \`cursor\`.

${sections.join('\n\n')}
`;
  return { name: 'api', title: 'HTTP API', summary: 'Every request, what it takes and answers.', markdown };
}

function operationWords(operation: Route): string {
  const { method, path, summary, description, body, answers } = operation;
  const parameters = parametersOf(operation).map(objectOf);
  const given = parameters.filter((one) => one['in'] !== 'path').map(parameterField);
  const shape = body === undefined ? {} : jsonSchemaOf(body.schema, 'draft-2020-12');
  const statuses = Object.entries(answers).map(([status, { text }]) => `${status}: ${text}`);
  const problems = [...problemsOf(operation)]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => `${status} ${codes.map(code).join(', ')}`);
  return [
    `### ${method} ${documentedPath(path)}`,
    `${summary}${description === undefined ? '' : ` ${description}`}`,
    given.length === 0 ? '' : fieldTable(given),
    shape['properties'] === undefined ? '' : `Body:\n\n${fieldTable(fieldsOf(shape))}`,
    `Answers ${statuses.join(' ')}`,
    `Problems: ${problems.join('; ')}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function parameterField(parameter: JsonObject) {
  const place = parameter['in'] === 'header' ? 'Header. ' : '';
  const [field] = fieldsOf({ properties: { [String(parameter['name'])]: objectOf(parameter['schema']) } });
  const said = parameter['description'] ?? field?.description ?? '';
  return {
    name: String(parameter['name']),
    type: field?.type ?? 'text',
    isRequired: false,
    description: `${place}${String(said)}`,
  };
}
