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
  return problems.filter(({ pointer, code }) => !isTemplated(value, pointerParts(pointer.slice(at.length)), code));
}

/** Whether a template decides the value at the path. */
function isTemplated(value: Json, path: readonly string[], code: string): boolean {
  let current: Json | undefined = value;
  for (const part of path) {
    if (typeof current === 'string') return current.includes(OPENING);
    // A template can produce any key.
    if (isObject(current) && Object.keys(current).some((key) => key.includes(OPENING))) return true;
    current = memberOf(current, part);
  }
  return code !== 'unknown_member' && containsTemplate(current);
}

function memberOf(value: Json | undefined, part: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(part)];
  return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}

function containsTemplate(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.includes(OPENING);
  if (Array.isArray(value)) return value.some(containsTemplate);
  return (
    isObject(value) && Object.entries(value).some(([key, member]) => key.includes(OPENING) || containsTemplate(member))
  );
}
