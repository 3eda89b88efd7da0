/** JSON pointers (RFC 6901): the place that every problem names. */

/** `['steps', 'a/b', 0]` → `/steps/a~1b/0`. */
export function pointer(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) text += `/${escaped(String(part))}`;
  return text;
}

/** One member below a pointer. */
export function below(parent: string, member: string | number): string {
  return `${parent}/${escaped(String(member))}`;
}

function escaped(part: string): string {
  return part.includes('~') || part.includes('/') ? part.replaceAll('~', '~0').replaceAll('/', '~1') : part;
}
