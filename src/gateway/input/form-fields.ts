/** Turns a payload format into the fields of an HTML form, and the texts that a form sends into the format's values. */

import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import type { PayloadFormat } from '../../definition/document/types.ts';
import { fieldLabel } from '../../definition/payload/field-label.ts';
import { coerceState, isJsonSchema } from '../../definition/payload/format.ts';
import { decodeCharset } from '../../json/charset.ts';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { isUtf8 as isUtf8Type, rawBody } from '../http/body.ts';
import { checkKeys, decodeText } from '../validation/json-guard.ts';

export interface FormField {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean';
  /** The type in the document: `date` and `datetime` are strings with their own control. */
  readonly declaredType: string;
  readonly label: string;
  /** Shown below the label. */
  readonly description?: string;
  readonly isRequired: boolean;
  /** The accepted values. */
  readonly choices?: readonly Json[];
  /** The initial content of the field. */
  readonly initialValue?: Json;
}

/** The format's members that a form can ask for: texts, numbers and booleans. */
export function formFields(format: PayloadFormat): FormField[] {
  const isSchema = isJsonSchema(format);
  const members = isSchema ? getOwn(format, 'properties') : format;
  if (!isObject(members)) return [];
  const required = isSchema ? getOwn(format, 'required') : undefined;
  return Object.entries(members).flatMap(([name, member]) => {
    const choices = getOwn(member, 'enum');
    const declaredType = declaredTypeOf(member) ?? (areTexts(choices) ? 'string' : undefined);
    const type = declaredType === undefined ? undefined : TYPES[declaredType];
    if (declaredType === undefined || type === undefined) return [];
    const description = textOf(member, 'description');
    const initialValue = getOwn(member, 'default');
    const isRequired = isSchema
      ? Array.isArray(required) && required.includes(name)
      : getOwn(member, 'required') !== false && initialValue === undefined;
    return [
      {
        name,
        type,
        declaredType,
        label: fieldLabel(name, member),
        ...omitUndefined({ description }),
        isRequired,
        ...(Array.isArray(choices) ? { choices } : {}),
        ...omitUndefined({ initialValue }),
      },
    ];
  });
}

/**
 * The fields of a form as values of the format: numbers and booleans are parsed. An empty number, boolean, date or
 * choice is left out. Text that does not parse stays unchanged, and the check refuses it.
 */
export function coerceFields(format: PayloadFormat, sent: JsonObject): JsonObject {
  const typed: JsonObject = { ...sent };
  for (const { name, type, declaredType, choices } of formFields(format)) {
    const value = getOwn(sent, name);
    if (value === undefined) continue;
    if (value === '' && (declaredType !== 'string' || choices?.includes('') === false)) {
      delete typed[name];
      continue;
    }
    const coerced = coerceState({ type }, value);
    if ('value' in coerced) setOwn(typed, name, coerced.value);
  }
  return typed;
}

const TYPES: { readonly [type: string]: FormField['type'] | undefined } = {
  string: 'string',
  date: 'string',
  datetime: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
};

function declaredTypeOf(member: Json): string | undefined {
  const declared = typeof member === 'string' ? member : textOf(member, 'type');
  return declared !== undefined && Object.hasOwn(TYPES, declared) ? declared : undefined;
}

const areTexts = (choices: Json | undefined): boolean =>
  Array.isArray(choices) && choices.length > 0 && choices.every((choice) => typeof choice === 'string');

function textOf(member: Json, name: string): string | undefined {
  const value = getOwn(member, name);
  return typeof value === 'string' ? value : undefined;
}

/** Charsets in which every byte is a character, as labels of forms name them. */
const SINGLE_BYTE = /^(?:(?:windows-|cp)125\d|iso-8859-\d{1,2}|latin\d|koi8-[ru])$/i;

/**
 * The fields of a form in the charset of its content type, UTF-8 by default. A form that is not UTF-8 may name its
 * charset in a field: `_charset_` as in HTML, or `charset` as PayPal does. Undefined for charsets that are not read.
 * @throws HttpProblem `invalid_json` where the bytes are not UTF-8, and no charset is named.
 */
export function readForm(bytes: Buffer, contentType: string): URLSearchParams | undefined {
  const named = /;\s*charset="?([\w.:-]+)/i.exec(contentType)?.[1];
  if (named !== undefined && !isUtf8Type(contentType)) return inCharset(unescaped(bytes), named);
  const plain = unescaped(bytes);
  if (!isUtf8(plain)) {
    const fields = new URLSearchParams(bytes.toString('latin1'));
    const form = inCharset(plain, fields.get('_charset_') ?? fields.get('charset') ?? '');
    if (form !== undefined) return form;
  }
  return new URLSearchParams(decodeText(bytes));
}

/** The bytes with the escapes of those that are not ASCII undone. */
const unescaped = (bytes: Buffer): Buffer =>
  Buffer.from(
    bytes
      .toString('latin1')
      .replace(/%([89a-f][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

function inCharset(bytes: Buffer, label: string): URLSearchParams | undefined {
  const text = SINGLE_BYTE.test(label) ? decodeCharset(bytes, label) : undefined;
  return text === undefined ? undefined : new URLSearchParams(text);
}

/** The fields of the form in a request's body, in UTF-8. @throws HttpProblem `invalid_json`; as paramsToFields. */
export const formBodyFields = (req: Request): JsonObject =>
  paramsToFields(new URLSearchParams(decodeText(rawBody(req))));

/** A name that occurs more than once is a list. @throws HttpProblem `forbidden_key`, `invalid_name`. */
export function paramsToFields(given: URLSearchParams): JsonObject {
  // In one pass: getAll scans all entries for each name, which takes minutes for a form of 2 MB.
  const sent = new Map<string, string[]>();
  for (const [name, value] of given) {
    const values = sent.get(name);
    if (values === undefined) sent.set(name, [value]);
    else values.push(value);
  }
  const fields: JsonObject = {};
  for (const [name, values] of sent) setOwn(fields, name, values.length === 1 ? (values[0] ?? '') : values);
  checkKeys(fields);
  return fields;
}
