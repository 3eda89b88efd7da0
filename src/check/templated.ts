/**
 * A schema of evaluated values, asked about a value as it is written: whatever a template will make is not known yet, and
 * no problem. Schemas of the host's own actions are such; those of kinds name the templates themselves.
 */

import type { z } from 'zod';
import { issueProblems } from '../definition/document/issues.ts';
import { partsOf } from '../definition/document/pointer.ts';
import type { Problem } from '../definition/document/types.ts';
import { isObject, type Json } from '../json/json.ts';

const OPENING = '{{';

/** `at`: the place of `value` in the document. */
export function templatedProblems(schema: z.ZodType, value: Json, at: string): Problem[] {
  let problems: Problem[];
  try {
    problems = issueProblems(schema, value, at);
  } catch {
    // A schema that asks others, and so answers later: the run asks it.
    return [];
  }
  return problems.filter(({ pointer, code }) => !isOpen(value, partsOf(pointer.slice(at.length)), code));
}

/** Whether a template decides what stands at that place. */
function isOpen(value: Json, path: readonly string[], code: string): boolean {
  let here: Json | undefined = value;
  for (const part of path) {
    if (typeof here === 'string') return here.includes(OPENING);
    // A key that is made may be any.
    if (isObject(here) && Object.keys(here).some((key) => key.includes(OPENING))) return true;
    here = memberOf(here, part);
  }
  return code !== 'unknown_member' && holdsTemplate(here);
}

function memberOf(value: Json | undefined, part: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(part)];
  return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}

function holdsTemplate(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.includes(OPENING);
  if (Array.isArray(value)) return value.some(holdsTemplate);
  return (
    isObject(value) && Object.entries(value).some(([key, member]) => key.includes(OPENING) || holdsTemplate(member))
  );
}
