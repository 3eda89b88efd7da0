/**
 * Checks a written value against a schema of rendered values. Values that a template will produce are not known yet,
 * and are not reported. The host's own actions have such schemas; the schemas of kinds allow templates themselves.
 */

import type { z } from 'zod';
import type { Problem } from '../definition/document/types.ts';
import { zodProblems } from '../definition/document/zod-problems.ts';
import { isObject, type Json } from '../json/json.ts';
import { pointerParts } from '../json/pointer.ts';

const OPENING = '{{';

/** `at`: the pointer of `value` in the document. */
export function templatedProblems(schema: z.ZodType, value: Json, at: string): Problem[] {
  let problems: Problem[];
  try {
    problems = zodProblems(schema, value, at);
  } catch {
    // An asynchronous schema: the run applies it.
    return [];
  }
  return problems.filter(({ pointer, code }) => !isOpen(value, pointerParts(pointer.slice(at.length)), code));
}

/** Whether a template decides the value at the path. */
function isOpen(value: Json, path: readonly string[], code: string): boolean {
  let here: Json | undefined = value;
  for (const part of path) {
    if (typeof here === 'string') return here.includes(OPENING);
    // A template can produce any key.
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
