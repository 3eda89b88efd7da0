/** Converts a payload format to JSON Schema, for models and their tools. */

import { getOwn, isObject, type JsonObject, setOwn } from '../../json/json.ts';
import type { PayloadFormat } from '../document/types.ts';
import { isJsonSchema } from './format.ts';

/** The JSON Schema types of the short form's types (LANGUAGE.md §1). */
const SCHEMAS_BY_TYPE: { readonly [type: string]: JsonObject } = {
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', format: 'date-time' },
  any: {},
};
const COPIED_MEMBERS = ['description', 'title', 'enum', 'default', 'items', 'properties'] as const;

/** The format as JSON Schema. A member with a dotted name stays one member. */
export function asJsonSchema(format: PayloadFormat): JsonObject {
  return isJsonSchema(format) ? format : shortFormSchema(format);
}

function shortFormSchema(format: PayloadFormat): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(format)) {
    const type = typeof field === 'string' ? field : getOwn(field, 'type');
    const value =
      typeof type === 'string'
        ? fieldSchema(type, field)
        : isObject(field)
          ? shortFormSchema(field)
          : ({} as JsonObject);
    setOwn(properties, name, value);
    if (getOwn(field, 'required') !== false && getOwn(field, 'default') === undefined) required.push(name);
  }
  return { type: 'object', properties, required };
}

function fieldSchema(type: string, field: JsonObject[string]): JsonObject {
  const schema: JsonObject = { ...(SCHEMAS_BY_TYPE[type] ?? { type }) };
  if (!isObject(field)) return schema;
  for (const member of COPIED_MEMBERS) {
    const value = getOwn(field, member);
    if (value !== undefined) schema[member] = value;
  }
  if (Array.isArray(field['required'])) schema['required'] = field['required'];
  return schema;
}
