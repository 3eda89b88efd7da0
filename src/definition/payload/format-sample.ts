/** A sample value of a payload format, for hints. */

import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import type { PayloadFormat } from '../document/types.ts';
import { isJsonSchema } from './format.ts';

const MAX_DEPTH = 4;
const MAX_FIELDS = 20;
const BY_TYPE: { readonly [type: string]: Json } = {
  number: 0,
  integer: 0,
  boolean: false,
  date: '2026-01-31',
  datetime: '2026-01-31T09:00:00Z',
  array: [],
  object: {},
  null: null,
};

/** A sample of an object. A text is `<name>`; a field with a default or an enum has the default or the first value. */
export function sampleOf(format: PayloadFormat): JsonObject {
  const members = isJsonSchema(format) ? getOwn(format, 'properties') : format;
  return isObject(members) ? sampleOfMembers(members, 0) : {};
}

function sampleOfMembers(members: JsonObject, depth: number): JsonObject {
  const sample: JsonObject = {};
  for (const [name, field] of Object.entries(members).slice(0, MAX_FIELDS))
    setOwn(sample, name, sampleOfField(name, field, depth));
  return sample;
}

function sampleOfField(name: string, field: Json, depth: number): Json {
  const given =
    getOwn(field, 'default') ??
    getOwn(field, 'const') ??
    first(getOwn(field, 'enum')) ??
    first(getOwn(field, 'examples'));
  if (given !== undefined) return given;
  const properties = getOwn(field, 'properties');
  if (isObject(properties) && depth < MAX_DEPTH) return sampleOfMembers(properties, depth + 1);
  const written = typeof field === 'string' ? field : getOwn(field, 'type');
  const type = Array.isArray(written) ? written[0] : written;
  const minimum = getOwn(field, 'minimum');
  if ((type === 'number' || type === 'integer') && typeof minimum === 'number') return minimum;
  const sampleType =
    getOwn(field, 'format') === 'date' ? 'date' : getOwn(field, 'format') === 'date-time' ? 'datetime' : type;
  return typeof sampleType === 'string' && Object.hasOwn(BY_TYPE, sampleType) ? BY_TYPE[sampleType]! : `<${name}>`;
}

const first = (list: Json | undefined): Json | undefined => (Array.isArray(list) ? list[0] : undefined);
