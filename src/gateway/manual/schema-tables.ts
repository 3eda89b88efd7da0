/** What a JSON Schema says, in words and tables for readers of the manual. */
import { DURATION_TITLE, INSTANT_TITLE } from '../../definition/document/titles.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { code, table } from './page.ts';

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** The members of an object's schema. Members of inner objects are named `outer.inner`. */
export function fieldsOf(schema: JsonObject, prefix = ''): Field[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(objectOf(schema['properties'])).flatMap(([name, member]) => {
    const inner = objectOf(member);
    const { description } = inner;
    const field = {
      name: prefix + name,
      type: typeWords(inner),
      isRequired: required.includes(name),
      description: typeof description === 'string' ? description : '',
    };
    return [field, ...innerFields(inner, `${prefix}${name}.`)];
  });
}

/** The fields of the objects that a value may be. If one member tells their forms apart, each field names its form. */
function innerFields(schema: JsonObject, prefix: string): Field[] {
  const objects = variantsOf(schema).filter((one) => one['properties'] !== undefined);
  const tag = tagOf(objects);
  if (tag === undefined) return objects.filter(hasDescribedMembers).flatMap((one) => fieldsOf(one, prefix));
  const forms = objects.map((one) => ({ one, form: typeWords(objectOf(objectOf(one['properties'])[tag])) }));
  return [
    {
      name: prefix + tag,
      type: forms.map(({ form }) => form).join(', '),
      isRequired: true,
      description: 'Selects the form.',
    },
    ...forms.flatMap(({ one, form }) =>
      fieldsOf(one, prefix)
        .filter(({ name }) => name !== prefix + tag)
        .map((field) => ({ ...field, description: `With ${form}. ${field.description}`.trimEnd() })),
    ),
  ];
}

/** The member whose constant differs in each of several objects. */
function tagOf(objects: readonly JsonObject[]): string | undefined {
  const [first, ...others] = objects.map((one) => objectOf(one['properties']));
  if (first === undefined || others.length === 0) return undefined;
  return Object.keys(first).find((name) =>
    [first, ...others].every((members) => objectOf(members[name])['const'] !== undefined),
  );
}

/** A schema's alternatives, or the schema itself if it has none. */
function variantsOf(schema: JsonObject): JsonObject[] {
  const variants = [schema['anyOf'], schema['oneOf']].find(Array.isArray);
  return variants === undefined ? [schema] : variants.map(objectOf);
}

const DURATIONS = new RegExp(`\\b${DURATION_TITLE}s?\\b`);

/** A table of fields. Required ones are bold. */
export function fieldTable(fields: readonly Field[]): string {
  if (fields.length === 0) return 'None.';
  return table(
    ['Field', 'Type', 'Description'],
    fields.map(({ name, type, isRequired, description }) => [
      isRequired ? `**${code(name)}**` : code(name),
      type.includes('`') ? type : type.replace(DURATIONS, `[$&](/docs/definition#durations)`),
      `${isRequired ? 'Required. ' : ''}${description}`,
    ]),
  );
}

/** The type of a value for people: `number or template`, `{type: 'bearer', token}`. */
export function typeWords(schema: JsonObject): string {
  const { title } = schema;
  if (title === DURATION_TITLE || title === INSTANT_TITLE) return title;
  const variants = variantsOf(schema);
  if (variants[0] !== schema) return [...new Set(variants.map(typeWords))].join(' or ');
  if (schema['const'] !== undefined) return code(JSON.stringify(schema['const']));
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => code(String(one))).join(', ');
  const { type, items, additionalProperties, properties, pattern } = schema;
  switch (type) {
    case 'string':
      return typeof pattern === 'string' && pattern.startsWith('\\{\\{') ? 'template' : 'text';
    case 'integer':
      return 'whole number';
    case 'array':
      return `list of ${plural(typeWords(objectOf(items)))}`;
    case 'object':
      if (properties !== undefined) return code(shape(objectOf(properties)));
      return isUnconstrained(additionalProperties)
        ? 'object'
        : `object of ${plural(typeWords(objectOf(additionalProperties)))}`;
    default:
      return typeof type === 'string' ? type : 'anything';
  }
}

function shape(properties: JsonObject): string {
  const members = Object.entries(properties).map(([name, member]) => {
    const { const: fixed } = objectOf(member);
    return fixed === undefined ? name : `${name}: ${JSON.stringify(fixed)}`;
  });
  return `{${members.join(', ')}}`;
}

function plural(words: string): string {
  if (words === 'anything' || words.startsWith('`')) return words;
  return words
    .split(' or ')
    .map((word) => (/^(text|number|whole number|template|object|boolean|duration)$/.test(word) ? `${word}s` : word))
    .join(' or ');
}

const isUnconstrained = (schema: Json | undefined): boolean => Object.keys(objectOf(schema)).length === 0;

function hasDescribedMembers(schema: JsonObject): boolean {
  return Object.values(objectOf(schema['properties'])).some((member) => objectOf(member)['description'] !== undefined);
}

/** The value if it is an object, otherwise an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
