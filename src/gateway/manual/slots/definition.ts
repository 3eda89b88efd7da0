/** Tables of the definition language: members of a definition, a step and a trigger, expression roots, transforms. */
import { triggerSchemas } from '../../../check/triggers.ts';
import { ROOT_MEANINGS } from '../../../definition/document/roots.ts';
import { definitionSchema } from '../../../definition/document/schema.ts';
import type { TriggerDefinition } from '../../../definition/document/types.ts';
import type { JsonObject } from '../../../json/json.ts';
import { TRANSFORMS } from '../../../template/transforms/table.ts';
import { code, table } from '../page.ts';
import { jsonSchemaOf } from '../schema-json.ts';
import { fieldsOf, fieldTable, objectOf } from '../schema-words.ts';

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
