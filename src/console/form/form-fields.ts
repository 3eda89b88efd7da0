/**
 * The fields of a payload format, and the conversion of their drafts to a value and back. Objects and lists are fields
 * to three levels; deeper values, and those without a field of their own, are JSON.
 */
import { fieldLabel } from '../../definition/payload/field-label.ts';
import { isJsonSchema, validatePayload } from '../../definition/payload/format.ts';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { parseJsonInput } from '../data/parse-json-input.ts';

type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'date' | 'datetime' | 'choice' | 'group' | 'list' | 'json';

export interface FormField {
  readonly kind: FieldKind;
  /** The member of its group. Empty for the whole form and for the items of a list. */
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly isRequired: boolean;
  /** Long texts get several lines. */
  readonly isLong?: boolean;
  /** Of a choice. */
  readonly choices?: readonly Json[];
  readonly defaultValue?: Json;
  /** Of a group. */
  readonly fields?: readonly FormField[];
  /** Of a list: the field of each item. */
  readonly item?: FormField;
}

/** The content of a field: a text; a checkbox; the drafts of a group by name; the drafts of a list. */
export type FieldDraft = string | boolean | { readonly [name: string]: FieldDraft } | readonly FieldDraft[];

export interface FieldProblem {
  /** JSON pointer into the value. */
  readonly pointer: string;
  readonly message: string;
}

const MAX_FIELD_DEPTH = 3;
/** Texts whose `maxLength` is at least this get several lines. */
const LONG_TEXT = 200;

/** The form of a format: a group of its members, or JSON where it has none. */
export function rootField(format: JsonObject): FormField {
  const root = { name: '', label: 'Value', isRequired: true } as const;
  if (isJsonSchema(format)) return schemaField(format, root, 0);
  if (Object.keys(format).length === 0) return { ...root, kind: 'json', defaultValue: {} };
  return { ...root, kind: 'group', fields: shortFields(format, 1) };
}

interface FieldBase {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
}

function shortFields(format: JsonObject, depth: number): FormField[] {
  return Object.entries(format).map(([name, field]) => {
    const type = typeof field === 'string' ? field : getOwn(field, 'type');
    const defaultValue = getOwn(field, 'default');
    const isRequired = getOwn(field, 'required') !== false && defaultValue === undefined;
    const base = { name, label: fieldLabel(name, field), isRequired };
    if (typeof type === 'string') {
      const schema = isObject(field) ? { ...field, type } : { type };
      return schemaField(schema, base, depth);
    }
    if (!isObject(field) || depth >= MAX_FIELD_DEPTH) return { ...base, kind: 'json' };
    return { ...base, kind: 'group', fields: shortFields(field, depth + 1) };
  });
}

/** The field of a schema, which may also be a field of the short form with its type. */
function schemaField(schema: JsonObject, base: FieldBase, depth: number): FormField {
  const [description, defaultValue] = [getOwn(schema, 'description'), getOwn(schema, 'default')];
  const shared = {
    ...base,
    ...(typeof description === 'string' && description !== base.label ? { description } : {}),
    ...(defaultValue === undefined ? {} : { defaultValue }),
  };
  const choices = getOwn(schema, 'enum');
  if (Array.isArray(choices) && choices.length > 0) return { ...shared, kind: 'choice', choices };
  if (['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if'].some((keyword) => getOwn(schema, keyword) !== undefined))
    return { ...shared, kind: 'json' };
  const type = getOwn(schema, 'type') ?? (isObject(getOwn(schema, 'properties')) ? 'object' : undefined);
  const format = getOwn(schema, 'format');
  switch (type) {
    case 'string': {
      if (format === 'date') return { ...shared, kind: 'date' };
      if (format === 'date-time') return { ...shared, kind: 'datetime' };
      const maxLength = getOwn(schema, 'maxLength');
      return {
        ...shared,
        kind: 'text',
        ...(typeof maxLength === 'number' && maxLength >= LONG_TEXT ? { isLong: true } : {}),
      };
    }
    case 'number':
    case 'integer':
    case 'date':
    case 'datetime':
      return { ...shared, kind: type };
    case 'boolean':
      // Without a default, false and unset differ.
      return base.isRequired || defaultValue !== undefined
        ? { ...shared, kind: 'boolean' }
        : { ...shared, kind: 'choice', choices: [true, false] };
    case 'object':
      return groupOf(schema, shared, depth);
    case 'array': {
      const items = getOwn(schema, 'items');
      if (!isObject(items) || depth >= MAX_FIELD_DEPTH) return { ...shared, kind: 'json' };
      const item = schemaField(
        items,
        { name: '', label: fieldLabel('', items) || 'Item', isRequired: true },
        depth + 1,
      );
      return { ...shared, kind: 'list', item };
    }
    default:
      return { ...shared, kind: 'json' };
  }
}

function groupOf(schema: JsonObject, shared: FieldBase, depth: number): FormField {
  const [members, required] = [getOwn(schema, 'properties'), getOwn(schema, 'required')];
  if (!isObject(members) || Object.keys(members).length === 0 || depth >= MAX_FIELD_DEPTH)
    return { ...shared, kind: 'json' };
  const isListed = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const fields = Object.entries(members).map(([name, member]): FormField => {
    const base = { name, label: fieldLabel(name, member), isRequired: isListed(name) };
    return isObject(member) ? schemaField(member, base, depth + 1) : { ...base, kind: 'json' };
  });
  return { ...shared, kind: 'group', fields };
}

/** The draft of a value; without one, that of the default value. */
export function draftOf(field: FormField, value: Json | undefined = field.defaultValue): FieldDraft {
  switch (field.kind) {
    case 'boolean':
      return value === true;
    case 'group': {
      const draft: { [name: string]: FieldDraft } = {};
      for (const inner of field.fields ?? []) {
        const found = isObject(value) ? getOwn(value, inner.name) : undefined;
        setOwn(draft, inner.name, draftOf(inner, found));
      }
      return draft;
    }
    case 'list':
      return Array.isArray(value) && field.item !== undefined
        ? value.map((one) => draftOf(field.item as FormField, one))
        : [];
    case 'choice': {
      const at = value === undefined ? -1 : (field.choices ?? []).findIndex((one) => isSameJson(one, value));
      return at < 0 ? '' : String(at);
    }
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2);
    case 'datetime':
      return typeof value === 'string' ? localTime(value) : '';
    default:
      return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  }
}

interface FieldValue {
  /** Undefined if the field is empty and optional. */
  readonly value: Json | undefined;
  readonly problems: readonly FieldProblem[];
}

/** The value of a draft. */
export function readDraft(field: FormField, draft: FieldDraft, pointer = ''): FieldValue {
  switch (field.kind) {
    case 'boolean':
      return { value: draft === true, problems: [] };
    case 'group':
      return groupValue(field, draft, pointer);
    case 'list': {
      const items = Array.isArray(draft) ? (draft as readonly FieldDraft[]) : [];
      const read = items.map((one, index) => readDraft(field.item as FormField, one, childPointer(pointer, index)));
      // An optional list without rows is left out.
      if (items.length === 0 && !field.isRequired) return { value: undefined, problems: [] };
      return { value: read.map(({ value }) => value ?? null), problems: read.flatMap(({ problems }) => problems) };
    }
    default:
      return scalarValue(field, typeof draft === 'string' ? draft : '', pointer);
  }
}

function groupValue(field: FormField, draft: FieldDraft, pointer: string): FieldValue {
  const value: JsonObject = {};
  const problems: FieldProblem[] = [];
  for (const inner of field.fields ?? []) {
    const found = (draft as { readonly [name: string]: FieldDraft })[inner.name] ?? draftOf(inner);
    const read = readDraft(inner, found, childPointer(pointer, inner.name));
    problems.push(...read.problems);
    if (read.value !== undefined) setOwn(value, inner.name, read.value);
  }
  // A group that is optional, and in which nothing was filled in, is left out with what it lacks.
  if (!field.isRequired && Object.keys(value).length === 0) return { value: undefined, problems: [] };
  return { value, problems };
}

function scalarValue(field: FormField, text: string, pointer: string): FieldValue {
  const invalid = (message: string): FieldValue => ({ value: undefined, problems: [{ pointer, message }] });
  if (text.trim() === '') {
    if (field.isRequired) return invalid(field.kind === 'choice' ? 'Choose one.' : 'Fill this in.');
    return { value: undefined, problems: [] };
  }
  const valid = (value: Json | undefined): FieldValue => ({ value, problems: [] });
  switch (field.kind) {
    case 'number':
    case 'integer': {
      const value = Number(text);
      if (!Number.isFinite(value)) return invalid('Expected a number.');
      return field.kind === 'integer' && !Number.isInteger(value) ? invalid('Expected a whole number.') : valid(value);
    }
    case 'choice':
      return valid((field.choices ?? [])[Number(text)]);
    case 'datetime': {
      const at = Date.parse(text);
      return Number.isNaN(at) ? invalid('Expected a date and a time.') : valid(new Date(at).toISOString());
    }
    case 'json': {
      const { value, error } = parseJsonInput(text);
      return error === undefined ? valid(value as Json) : invalid('This is not JSON.');
    }
    default:
      return valid(text);
  }
}

/** The value of a draft, with the problems that the fields and then the format find. */
export function validateDraft(format: JsonObject, field: FormField, draft: FieldDraft): FieldValue {
  const read = readDraft(field, draft);
  if (read.problems.length > 0) return read;
  return { value: read.value, problems: formatProblemsOf(format, read.value ?? null) };
}

/** The problems that the format finds in a value. */
export const formatProblemsOf = (format: JsonObject, value: Json): FieldProblem[] =>
  validatePayload(format, value).map(({ pointer, message }) => ({ pointer, message }));

/** Whether the fields can hold the full value: members without a field would be lost. */
export function canRepresent(field: FormField, value: Json): boolean {
  const { value: roundTrip, problems } = readDraft(field, draftOf(field, value));
  return problems.length === 0 && roundTrip !== undefined && isSuperset(roundTrip, value);
}

/** Whether `superset` has everything that `subset` has. Defaults may have been added. */
function isSuperset(superset: Json, subset: Json): boolean {
  if (isObject(subset))
    return (
      isObject(superset) &&
      Object.entries(subset).every(([name, value]) => {
        const found = getOwn(superset, name);
        return found !== undefined && isSuperset(found, value);
      })
    );
  if (Array.isArray(subset))
    return (
      Array.isArray(superset) &&
      superset.length === subset.length &&
      subset.every((one, at) => isSuperset(superset[at] ?? null, one))
    );
  return (
    superset === subset || (typeof superset === 'string' && typeof subset === 'string' && isSameTime(superset, subset))
  );
}

const isSameTime = (one: string, other: string): boolean =>
  /^\d{4}-/.test(one) && !Number.isNaN(Date.parse(one)) && Date.parse(one) === Date.parse(other);

const isSameJson = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A time as `datetime-local` fields have it, in the viewer's zone. Empty for text that is no time. */
function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const seconds = at.getSeconds() === 0 ? '' : `:${two(at.getSeconds())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
}
