/** JSON pointers (RFC 6901), which give the location of every problem. */
import { getOwn, type Json } from './json.ts';

/** `['steps', 'a/b', 0]` → `/steps/a~1b/0`. */
export function pointer(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) text += `/${escaped(String(part))}`;
  return text;
}

/** The pointer of a member or element of the value at a pointer. */
export function childPointer(parent: string, member: string | number): string {
  return `${parent}/${escaped(String(member))}`;
}

/** `/steps/a~1b/0` → `['steps', 'a/b', '0']`. */
export function pointerParts(text: string): string[] {
  return text
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at the pointer; undefined if there is none. */
export function valueAt(root: Json, text: string): Json | undefined {
  let here: Json | undefined = root;
  for (const part of pointerParts(text)) here = Array.isArray(here) ? here[Number(part)] : getOwn(here, part);
  return here;
}

function escaped(part: string): string {
  return part.includes('~') || part.includes('/') ? part.replaceAll('~', '~0').replaceAll('/', '~1') : part;
}
