/** A payload format as the fields of an HTML form, and what a form sends, which is texts, as that format's values. */
import { coerceState, isJsonSchema } from '../definition/format.ts';
import { isObject, own, put } from '../definition/json.ts';
import type { JsonObject, PayloadFormat } from '../definition/types.ts';
import type { Json } from '../template/types.ts';

export interface FormField {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean';
  readonly label: string;
}

/** The format's members that a form can ask for: texts, numbers and booleans. */
export function formFields(format: PayloadFormat): FormField[] {
  const members = isJsonSchema(format) ? own(format, 'properties') : format;
  if (!isObject(members)) return [];
  return Object.entries(members).flatMap(([name, member]) => {
    const type = fieldType(member);
    return type === undefined ? [] : [{ name, type, label: textOf(member, 'description') ?? name }];
  });
}

/** Numbers and booleans that a form sent as text. What does not read as one stays as it is, for the check to refuse. */
export function typedFields(format: PayloadFormat, sent: JsonObject): JsonObject {
  const typed: JsonObject = { ...sent };
  for (const { name, type } of formFields(format)) {
    const value = own(sent, name);
    if (value === undefined) continue;
    const coerced = coerceState({ type }, value);
    if ('value' in coerced) put(typed, name, coerced.value);
  }
  return typed;
}

const TYPES: { readonly [type: string]: FormField['type'] } = {
  string: 'string',
  date: 'string',
  datetime: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
};

function fieldType(member: Json): FormField['type'] | undefined {
  const written = typeof member === 'string' ? member : textOf(member, 'type');
  return written !== undefined && Object.hasOwn(TYPES, written) ? TYPES[written] : undefined;
}

function textOf(member: Json, name: string): string | undefined {
  const value = own(member, name);
  return typeof value === 'string' ? value : undefined;
}
