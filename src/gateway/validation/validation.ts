/** Checks of paths, queries and bodies by zod schemas. Unknown parameters and members are refused. */

import type { Request } from 'express';
import { z } from 'zod';
import { isVisible } from '../../definition/document/names.ts';
import { hasLoneSurrogate } from '../../definition/document/vet.ts';
import { MAX_PROBLEMS } from '../../definition/document/zod-problems.ts';
import type { Json } from '../../json/json.ts';
import { HttpProblem } from './http-problem.ts';
import { asProblems } from './zod-issues.ts';

/** A text that may stand in ids, logs and stores. */
export const nameText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(
      (text) => !text.includes('\0') && !hasLoneSurrogate(text),
      'A name cannot hold NUL or half of a surrogate pair.',
    );

/** A name that lists show. */
export const shownName = (longest: number) => nameText(longest).refine(isVisible, 'Expected a name that can be seen.');

/** A value that was parsed from JSON and may be anything. */
export const anyJson = z.custom<Json>((value) => value !== undefined, 'Expected a value.');

/** Neither parameters nor members. */
export const noMembers = z.strictObject({});

/** For routes that ignore their query. */
export const anyQuery = z.looseObject({});

/** A path, in the OpenAPI document and here alike. */
export const pathName = nameText(1_000);

export const slugText = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'Expected a slug: lower-case letters, digits and hyphens, at most 63.');

/** A query's number: digits only. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/, 'Expected a whole number.')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    // Text on the wire, a number in the OpenAPI document.
    .meta({ type: 'integer', pattern: undefined, minimum: min, maximum: max });

const MAX_TIMEOUT_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/** The run timeout in requests that start a run. */
export const timeoutMsField = z
  .number()
  .int()
  .min(1)
  .max(MAX_TIMEOUT_MS)
  .optional()
  .describe('The timeout of the run. It overrides `config.timeout`.');

/** Some of these names, separated by commas. */
export const commaSeparated = <Name extends string>(names: readonly Name[]) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(names, { error: `Expected names out of ${names.join(', ')}.` })))
    .meta({ type: 'string', pattern: `^(${names.join('|')})(,(${names.join('|')}))*$` });

/** `limit` and `cursor`, which all lists take. */
export const pageQuery = (defaultLimit = 50, maxLimit = 1_000) => ({
  limit: wholeNumber(1, maxLimit).default(defaultLimit).describe(`How many. Default: ${defaultLimit}.`),
  cursor: z.string().min(1).max(4_000).optional().describe('The nextCursor of the previous page.'),
});

/** @throws HttpProblem `invalid_request` with a problem for each issue. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, place: 'body' | 'query' | 'path' | 'header'): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // Each problem may repeat a name of the body, so without a bound the answer would be larger than the request.
  const problems = result.error.issues.flatMap((issue) => asProblems(issue)).slice(0, MAX_PROBLEMS);
  const [first] = problems;
  const where =
    place === 'body'
      ? `body${first?.pointer ? ` at ${first.pointer}` : ''}`
      : `${place} (${first?.pointer.slice(1) || 'parameters'})`;
  throw new HttpProblem('invalid_request', `The ${where} is not as expected: ${first?.message ?? 'unknown'}`, {
    problems,
  });
}

/** The query, checked. Give a strict object: unknown parameters are refused. */
export function queryAs<T>(req: Request, schema: z.ZodType<T>): T {
  return checked(schema, { ...req.query }, 'query');
}

/** The slug of the path. Text that is not a slug cannot name a workflow. */
function pathSlug(req: Request, name: string): string {
  const slug = slugText.safeParse(checked(pathName, req.params[name], 'path'));
  if (slug.success) return slug.data;
  throw new HttpProblem(
    'not_found',
    'There is no workflow of that name: slugs have lower-case letters, digits and hyphens.',
  );
}

/** All parameters of the path. @throws HttpProblem `invalid_request`, or `not_found` for a malformed slug. */
export function paramsAs<P extends { readonly [name: string]: z.ZodType }>(
  req: Request,
  schemas: P,
): { readonly [name in keyof P]: z.output<P[name]> } {
  const read = ([name, schema]: [string, z.ZodType]) =>
    [name, schema === slugText ? pathSlug(req, name) : checked(schema, req.params[name], 'path')] as const;
  return Object.fromEntries(Object.entries(schemas).map(read)) as { [name in keyof P]: z.output<P[name]> };
}
