/** The schemas of the host's own actions, as JSON Schema. */
import { defined } from '../../json/defined.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { objectOf } from './schema-words.ts';

const TEMPLATE: JsonObject = { type: 'string', pattern: '\\{\\{' };
/** Members of a schema that are a schema, that are an object of schemas, and that are a list of schemas. */
const INNER = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames'];
const INNER_OF = ['properties', 'patternProperties'];
const INNER_LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];

/**
 * A schema to put inside another document. One with references becomes any object: inside, they would lead elsewhere.
 */
export function placedSchema(schema: JsonObject): JsonObject {
  return JSON.stringify(schema).includes('"$ref"') ? { type: 'object' } : schema;
}

/** The schema of the config that an author writes: a template may replace every value inside. */
export function writtenSchema(schema: JsonObject): JsonObject {
  const inside: { [member: string]: Json } = {};
  for (const [member, value] of Object.entries(schema)) {
    if (INNER.includes(member) && isObject(value)) inside[member] = orTemplate(value);
    else if (INNER_OF.includes(member))
      inside[member] = Object.fromEntries(
        Object.entries(objectOf(value)).map(([name, one]) => [name, orTemplate(objectOf(one))]),
      );
    else if (INNER_LISTS.includes(member) && Array.isArray(value))
      inside[member] = value.map((one) => (isObject(one) ? writtenSchema(one) : one));
    else inside[member] = value;
  }
  return inside;
}

function orTemplate(schema: JsonObject): JsonObject {
  const { description } = schema;
  return {
    ...defined({ description }),
    anyOf: [writtenSchema(schema), TEMPLATE],
  };
}
