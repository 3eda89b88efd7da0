/**
 * Building blocks of the kinds' config schemas. Written values may be templates, so most members take their own type or
 * a string with `{{ }}`. All are functions, since zod is not in the workflow bundle.
 */
import { z } from 'zod';
import { DURATION_TITLE, INSTANT_TITLE } from '../../definition/document/titles.ts';
import { EXPECTED_TEMPLATE } from '../../definition/document/zod-problems.ts';

/** The config of a kind: these members, and a description, which most configs may have. */
export const configSchema = <T extends z.ZodRawShape>(members: T) =>
  z.strictObject({ ...members, description: z.string().optional().describe('For readers.') });

/** A value of the type, or a template that makes one. */
export function templated<T extends z.ZodType>(type: T): z.ZodType {
  // Aborts, so a text without a template is checked against the other type too.
  const template = z.string(EXPECTED_TEMPLATE).regex(/\{\{[\s\S]*\}\}/, { error: EXPECTED_TEMPLATE, abort: true });
  return z.union([type, template]);
}

export function anyValue(): z.ZodType {
  return z.unknown();
}

/** A string, which may hold templates. */
export function textTemplate(): z.ZodType {
  return z.string().min(1);
}

export function expression(): z.ZodType {
  return z.string().min(1);
}

/** Milliseconds, `2d`, ISO 8601, or a template. The text is read when the step begins. */
export function duration(): z.ZodType {
  return z.union([z.number().min(0), z.string().min(1)]).meta({ title: DURATION_TITLE });
}

/** ISO 8601, milliseconds since 1970, or a template. */
export function instant(): z.ZodType {
  return z.union([z.number(), z.string().min(1)]).meta({ title: INSTANT_TITLE });
}

/** A payload format: JSON Schema, or alloy's short form. */
export function payloadFormat(): z.ZodType {
  return templated(z.record(z.string(), z.unknown()));
}

export function nameList(): z.ZodType {
  return z.union([z.string().min(1), z.array(z.string().min(1))]);
}
