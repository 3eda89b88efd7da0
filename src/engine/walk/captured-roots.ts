/** Captures the values that a template will read later (LANGUAGE.md §3.11: a rollback's config). */
import { type JsonObject, setOwn } from '../../json/json.ts';
import { evaluate, parseExpression } from '../../template/expression.ts';
import type { Reference, Scope } from '../../template/types.ts';

/** Roots whose values never change, or are known only later. */
const LASTING: ReadonlySet<string> = new Set(['input', 'organizationId', 'execution', 'secrets', 'error']);

export function readsError(references: readonly Reference[]): boolean {
  return references.some(({ root }) => root === 'error');
}

/** The referenced roots; of `steps` only the referenced entries. A whole root is copied, its values are shared. */
export function captureRoots(references: readonly Reference[], scope: Scope, now: number): JsonObject {
  const read: JsonObject = {};
  const entries: JsonObject = {};
  const note = (into: JsonObject, name: string, source: string): void => {
    const value = evaluate(parseExpression(source), scope, { now });
    if (value !== undefined) setOwn(into, name, value);
  };
  for (const { root, path } of references) {
    if (LASTING.has(root)) continue;
    const [slug] = path;
    if (root === 'steps' && typeof slug === 'string') {
      note(entries, slug, `steps[${JSON.stringify(slug)}]`);
      setOwn(read, 'steps', entries);
    } else if (root === 'steps') {
      note(read, 'steps', 'steps');
      Object.assign(entries, read['steps']);
    } else note(read, root, root);
  }
  return read;
}
