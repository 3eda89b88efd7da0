/** Tables of the definition language: step kinds, members of a definition, a step and a trigger, roots, transforms. */
import { triggerSchemas } from '../../../check/triggers.ts';
import { ROOT_MEANINGS } from '../../../definition/document/roots.ts';
import { definitionSchema } from '../../../definition/document/schema.ts';
import type { TriggerDefinition } from '../../../definition/document/types.ts';
import type { JsonObject } from '../../../json/json.ts';
import type { KindClass, StepKind } from '../../../steps/kind.ts';
import { kinds } from '../../../steps/kinds/table.ts';
import { TRANSFORMS } from '../../../template/transforms/table.ts';
import { KIND_CLASS_TEXTS } from '../kind-page.ts';
import { jsonSchemaOf } from '../language-schema.ts';
import { code, table } from '../page.ts';
import { fieldsOf, fieldTable, objectOf } from '../schema-tables.ts';

const members = (): JsonObject => objectOf(jsonSchemaOf(definitionSchema())['properties']);

export function definitionFields(): string {
  return fieldTable(fieldsOf({ properties: members(), required: ['steps'] }));
}

export function stepFields(): string {
  return fieldTable(fieldsOf(objectOf(objectOf(members()['steps'])['additionalProperties'])));
}

/** The members of one field of `state`. */
export function stateFields(): string {
  return fieldTable(fieldsOf(objectOf(objectOf(members()['state'])['additionalProperties'])));
}

export function triggerFields(): string {
  return fieldTable(fieldsOf(objectOf(objectOf(members()['triggers'])['items'])));
}

/** The `config` of a trigger of the type. */
export function triggerConfig(type: TriggerDefinition['type']): string {
  return fieldTable(fieldsOf(jsonSchemaOf(triggerSchemas()[type])));
}

export function expressionRoots(): string {
  const rows = Object.entries(ROOT_MEANINGS).map(([name, meaning]) => [code(name), meaning]);
  return table(['Root', 'Value'], rows);
}

export function transforms(): string {
  const rows = [...TRANSFORMS].map(([name, { takes, gives }]) => [code(`${name}${takes}`), gives]);
  return table(['Transform', 'Result'], rows);
}

/** The list of step kinds, by class. */
export function kindList(): string {
  const classes = Object.entries(KIND_CLASS_TEXTS) as [KindClass, (typeof KIND_CLASS_TEXTS)[KindClass]][];
  return classes
    .map(([name, { title, all }]) => {
      const rows = kinds.filter((kind) => kind.class === name).map((kind) => [linkTo(kind), kind.summary]);
      return `### ${title}\n\n${all}\n\n${table(['Kind', 'Purpose'], rows)}`;
    })
    .join('\n\n');
}

const linkTo = ({ type, aliases = [] }: StepKind): string =>
  [`[${code(type)}](/docs/${type})`, ...aliases.map(code)].join(' ');
