/** The schemas of the host's own actions, as JSON Schema. */

import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { objectOf } from './schema-tables.ts';

const TEMPLATE: JsonObject = { type: 'string', pattern: '\\{\\{' };
/** Members of a schema that are a schema, that are an object of schemas, and that are a list of schemas. */
const SCHEMA_KEYWORDS = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames'];
const SCHEMA_MAP_KEYWORDS = ['properties', 'patternProperties'];
const SCHEMA_LIST_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];

/**
 * A schema to put inside another document. One with references becomes any object: inside, they would lead elsewhere.
 */
export function embeddableSchema(schema: JsonObject): JsonObject {
  return JSON.stringify(schema).includes('"$ref"') ? { type: 'object' } : schema;
}

/** The schema of the config that an author writes: a template may replace every value inside. */
export function templatedSchema(schema: JsonObject): JsonObject {
  const inside: { [member: string]: Json } = {};
  for (const [member, value] of Object.entries(schema)) {
    if (SCHEMA_KEYWORDS.includes(member) && isObject(value)) inside[member] = allowTemplate(value);
    else if (SCHEMA_MAP_KEYWORDS.includes(member))
      inside[member] = Object.fromEntries(
        Object.entries(objectOf(value)).map(([name, one]) => [name, allowTemplate(objectOf(one))]),
      );
    else if (SCHEMA_LIST_KEYWORDS.includes(member) && Array.isArray(value))
      inside[member] = value.map((one) => (isObject(one) ? templatedSchema(one) : one));
    else inside[member] = value;
  }
  return inside;
}

function allowTemplate(schema: JsonObject): JsonObject {
  const { description } = schema;
  return {
    ...omitUndefined({ description }),
    anyOf: [templatedSchema(schema), TEMPLATE],
  };
}
