/**
 * The fields of a payload format, and the way from what stands in them to a value and back. Objects and lists are
 * fields to three levels; what is deeper, or has no form of its own, is JSON.
 */
import { fieldLabel } from '../../definition/payload/field-label.ts';
import { isJsonSchema, validatePayload } from '../../definition/payload/format.ts';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { parsed } from '../data/parsed.ts';

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
  readonly preset?: Json;
  /** Of a group. */
  readonly fields?: readonly FormField[];
  /** Of a list: the field of each item. */
  readonly item?: FormField;
}

/** What stands in a field: a text; a tick; the drafts of a group by name; those of a list. */
export type Draft = string | boolean | { readonly [name: string]: Draft } | readonly Draft[];

export interface FieldProblem {
  /** JSON pointer into the value. */
  readonly pointer: string;
  readonly message: string;
}

const DEEPEST = 3;
/** Texts are JSON where a choice of more values is asked for. */
const LONG_TEXT = 200;

/** The form of a format: a group of its members, or JSON where it has none. */
export function formOf(format: JsonObject): FormField {
  const root = { name: '', label: 'Value', isRequired: true } as const;
  if (isJsonSchema(format)) return schemaField(format, root, 0);
  if (Object.keys(format).length === 0) return { ...root, kind: 'json', preset: {} };
  return { ...root, kind: 'group', fields: shortFields(format, 1) };
}

interface Base {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
}

function shortFields(format: JsonObject, depth: number): FormField[] {
  return Object.entries(format).map(([name, field]) => {
    const type = typeof field === 'string' ? field : getOwn(field, 'type');
    const preset = getOwn(field, 'default');
    const isRequired = getOwn(field, 'required') !== false && preset === undefined;
    const base = { name, label: fieldLabel(name, field), isRequired };
    if (typeof type === 'string') {
      const schema = isObject(field) ? { ...field, type } : { type };
      return schemaField(schema, base, depth);
    }
    if (!isObject(field) || depth >= DEEPEST) return { ...base, kind: 'json' };
    return { ...base, kind: 'group', fields: shortFields(field, depth + 1) };
  });
}

/** The field of a schema, which may also be a field of the short form with its type. */
function schemaField(schema: JsonObject, base: Base, depth: number): FormField {
  const [description, preset] = [getOwn(schema, 'description'), getOwn(schema, 'default')];
  const shared = {
    ...base,
    ...(typeof description === 'string' && description !== base.label ? { description } : {}),
    ...(preset === undefined ? {} : { preset }),
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
      const most = getOwn(schema, 'maxLength');
      return { ...shared, kind: 'text', ...(typeof most === 'number' && most >= LONG_TEXT ? { isLong: true } : {}) };
    }
    case 'number':
    case 'integer':
    case 'date':
    case 'datetime':
      return { ...shared, kind: type };
    case 'boolean':
      // Without a default, "no" and "not said" differ.
      return base.isRequired || preset !== undefined
        ? { ...shared, kind: 'boolean' }
        : { ...shared, kind: 'choice', choices: [true, false] };
    case 'object':
      return groupOf(schema, shared, depth);
    case 'array': {
      const items = getOwn(schema, 'items');
      if (!isObject(items) || depth >= DEEPEST) return { ...shared, kind: 'json' };
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

function groupOf(schema: JsonObject, shared: Base, depth: number): FormField {
  const [members, required] = [getOwn(schema, 'properties'), getOwn(schema, 'required')];
  if (!isObject(members) || Object.keys(members).length === 0 || depth >= DEEPEST) return { ...shared, kind: 'json' };
  const isListed = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const fields = Object.entries(members).map(([name, member]): FormField => {
    const base = { name, label: fieldLabel(name, member), isRequired: isListed(name) };
    return isObject(member) ? schemaField(member, base, depth + 1) : { ...base, kind: 'json' };
  });
  return { ...shared, kind: 'group', fields };
}

/** What stands in the field for a value; without one, the default of the field. */
export function draftOf(field: FormField, value: Json | undefined = field.preset): Draft {
  switch (field.kind) {
    case 'boolean':
      return value === true;
    case 'group': {
      const draft: { [name: string]: Draft } = {};
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
      const at = value === undefined ? -1 : (field.choices ?? []).findIndex((one) => isSame(one, value));
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

export interface Read {
  /** Undefined where the field is empty and may be. */
  readonly value: Json | undefined;
  readonly problems: readonly FieldProblem[];
}

/** The value of what stands in a field. */
export function readDraft(field: FormField, draft: Draft, pointer = ''): Read {
  switch (field.kind) {
    case 'boolean':
      return { value: draft === true, problems: [] };
    case 'group':
      return groupValue(field, draft, pointer);
    case 'list': {
      const items = Array.isArray(draft) ? (draft as readonly Draft[]) : [];
      const read = items.map((one, index) => readDraft(field.item as FormField, one, childPointer(pointer, index)));
      // An optional list without rows is left out.
      if (items.length === 0 && !field.isRequired) return { value: undefined, problems: [] };
      return { value: read.map(({ value }) => value ?? null), problems: read.flatMap(({ problems }) => problems) };
    }
    default:
      return plainValue(field, typeof draft === 'string' ? draft : '', pointer);
  }
}

function groupValue(field: FormField, draft: Draft, pointer: string): Read {
  const value: JsonObject = {};
  const problems: FieldProblem[] = [];
  for (const inner of field.fields ?? []) {
    const found = (draft as { readonly [name: string]: Draft })[inner.name] ?? draftOf(inner);
    const read = readDraft(inner, found, childPointer(pointer, inner.name));
    problems.push(...read.problems);
    if (read.value !== undefined) setOwn(value, inner.name, read.value);
  }
  // A group that is optional, and in which nothing was filled in, is left out with what it lacks.
  if (!field.isRequired && Object.keys(value).length === 0) return { value: undefined, problems: [] };
  return { value, problems };
}

function plainValue(field: FormField, text: string, pointer: string): Read {
  const wrong = (message: string): Read => ({ value: undefined, problems: [{ pointer, message }] });
  if (text.trim() === '') {
    if (field.isRequired) return wrong(field.kind === 'choice' ? 'Choose one.' : 'Fill this in.');
    return { value: undefined, problems: [] };
  }
  const fine = (value: Json | undefined): Read => ({ value, problems: [] });
  switch (field.kind) {
    case 'number':
    case 'integer': {
      const value = Number(text);
      if (!Number.isFinite(value)) return wrong('Expected a number.');
      return field.kind === 'integer' && !Number.isInteger(value) ? wrong('Expected a whole number.') : fine(value);
    }
    case 'choice':
      return fine((field.choices ?? [])[Number(text)]);
    case 'datetime': {
      const at = Date.parse(text);
      return Number.isNaN(at) ? wrong('Expected a date and a time.') : fine(new Date(at).toISOString());
    }
    case 'json': {
      const { value, error } = parsed(text);
      return error === undefined ? fine(value as Json) : wrong('This is not JSON.');
    }
    default:
      return fine(text);
  }
}

/** The value, with what the fields and then the format find wrong with it. */
export function checkedValue(format: JsonObject, field: FormField, draft: Draft): Read {
  const read = readDraft(field, draft);
  if (read.problems.length > 0) return read;
  return { value: read.value, problems: formatProblemsOf(format, read.value ?? null) };
}

/** What the format finds wrong with a value. */
export const formatProblemsOf = (format: JsonObject, value: Json): FieldProblem[] =>
  validatePayload(format, value).map(({ pointer, message }) => ({ pointer, message }));

/** Whether the fields can hold the whole value: members that they do not have would be lost. */
export function canHold(field: FormField, value: Json): boolean {
  const { value: back, problems } = readDraft(field, draftOf(field, value));
  return problems.length === 0 && back !== undefined && holds(back, value);
}

/** Whether `whole` has everything that `part` has. Defaults may have been added. */
function holds(whole: Json, part: Json): boolean {
  if (isObject(part))
    return (
      isObject(whole) &&
      Object.entries(part).every(([name, value]) => {
        const found = getOwn(whole, name);
        return found !== undefined && holds(found, value);
      })
    );
  if (Array.isArray(part))
    return (
      Array.isArray(whole) && whole.length === part.length && part.every((one, at) => holds(whole[at] ?? null, one))
    );
  return whole === part || (typeof whole === 'string' && typeof part === 'string' && isSameTime(whole, part));
}

const isSameTime = (one: string, other: string): boolean =>
  /^\d{4}-/.test(one) && !Number.isNaN(Date.parse(one)) && Date.parse(one) === Date.parse(other);

const isSame = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A time as `datetime-local` fields have it, in the viewer's zone. Empty for text that is no time. */
function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const seconds = at.getSeconds() === 0 ? '' : `:${two(at.getSeconds())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
}
