/** Input schemas of tools in which every value may also be a reference: `@step.path` stands for a value of any type. */
import { isObject, type Json, type JsonObject } from '../../json/json.ts';

const REFERENCE: JsonObject = { type: 'string', pattern: '^@', description: 'A reference, such as @get_user_1.id.' };
const MOST_DEPTH = 10;
/** Members of a schema that hold more than a text of any form. */
const NARROW = ['enum', 'const', 'format', 'pattern', 'maxLength', 'minLength'];

/** The schema of the arguments as a whole stays an object. */
export function withReferences(schema: JsonObject): JsonObject {
  return { ...inner(schema, 0), type: 'object' };
}

/** The parts of a schema that may be references. What others refer to by `$ref` stays as it is. */
function inner(schema: JsonObject, depth: number): JsonObject {
  const { properties, items } = schema;
  return {
    ...schema,
    ...(isObject(properties) ? { properties: mapped(properties, depth) } : {}),
    ...(isObject(items) ? { items: orReference(items, depth) } : {}),
  };
}

const mapped = (properties: JsonObject, depth: number): JsonObject =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, orReference(schema, depth)]));

function orReference(schema: Json, depth: number): Json {
  if (!isObject(schema) || depth >= MOST_DEPTH) return schema;
  const isAnyText = schema['type'] === 'string' && !NARROW.some((name) => schema[name] !== undefined);
  if (isAnyText) return schema;
  const { description, title, default: usual, ...rest } = schema;
  return {
    ...(description === undefined ? {} : { description }),
    ...(title === undefined ? {} : { title }),
    ...(usual === undefined ? {} : { default: usual }),
    anyOf: [inner(rest, depth + 1), REFERENCE],
  };
}
