/** A definition's head as answers show it, and how requests name the one that they mean. */
import type { DefinitionHead } from '../../../contract/actors.ts';

/** `{slug, name, version, hash, enabled, tags, updatedAt}` and a little more (ARCHITECTURE.md §5, "Answers"). */
export function shownHead(
  head: DefinitionHead,
): Omit<DefinitionHead, 'hooks' | 'revision' | 'triggers' | 'triggerSecrets'> {
  const { hooks: _hooks, revision: _revision, triggers: _triggers, triggerSecrets: _secrets, ...shown } = head;
  return shown;
}

/** The hash of an If-Match, quoted or not; `*` is itself. */
export function etagOf(header: string | undefined): string | undefined {
  return header?.trim().replace(/^(W\/)?"(.*)"$/, '$2');
}
