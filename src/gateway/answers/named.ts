/** Answer schemas with a name: the OpenAPI document holds each of them once, under `components.schemas`. */
import { z } from 'zod';

const names = new Map<z.ZodType, string>();

/** Names a schema. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  names.set(schema, name);
  return schema;
}

/** Every named schema with its name. */
export const namedSchemas = (): ReadonlyMap<z.ZodType, string> => names;

/** A page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    nextCursor: z.string().optional().describe('Give it as `cursor` for the next page.'),
  });

/** A page on which rows that cannot be read are named beside the others. */
export const pageWithUnread = <Item extends z.ZodType, Known extends z.ZodRawShape>(item: Item, known: Known) =>
  z.object({
    ...pageOf(item).shape,
    unreadable: z
      .array(z.object({ ...known, code: z.string(), message: z.string() }))
      .optional()
      .describe('Those of the page that cannot be read, for example under an unknown master key, and why.'),
  });

/** An instant. */
export const time = z.iso.datetime().describe('ISO 8601.');

export const text = z.string();
/** Any JSON. */
export const anything = z.unknown();
export const anyObject = z.record(z.string(), anything);
