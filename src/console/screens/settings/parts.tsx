/** What the sections of the settings share. */
import type { ComponentChildren } from 'preact';
import { get } from '../../data/api.ts';
import { type Resource, useResource } from '../../data/resource.ts';
import { useMay } from '../../data/session.ts';
import type { Role } from '../../data/types.ts';
import { Empty } from '../../parts/loading.tsx';

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | undefined;
}

const LIMIT = 200;
/** The most items of a list that is shown whole. */
const MOST = 2_000;

/** All items of a list, page after page. */
export async function allOf<T>(path: string, signal: AbortSignal): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page: Page<T> = await get<Page<T>>(path, { query: { limit: LIMIT, cursor }, signal });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined && items.length < MOST);
  return items;
}

/** All items of a list, for a screen. Nothing is asked for without the role. */
export function useAll<T>(path: string, role: Role): Resource<readonly T[]> {
  const may = useMay(role);
  return useResource(may ? path : undefined, (signal) => allOf<T>(path, signal));
}

interface SectionProps {
  readonly about: ComponentChildren;
  /** Who may see it. */
  readonly readBy: Role;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A section: what it is for, its actions, and its content for those who may see it. */
export function Section({ about, readBy, actions, children }: SectionProps) {
  const may = useMay(readBy);
  return (
    <div class="stack">
      <div class="row">
        <p class="dim">{about}</p>
        <span class="grow" />
        {actions}
      </div>
      {may ? children : <Empty>Only people with the role {readBy} see this.</Empty>}
    </div>
  );
}

interface Named {
  readonly name: string;
  readonly missingSecrets?: readonly string[] | undefined;
}

/** What a model or server that was just stored names, and what is not there. */
export const MissingSecrets = ({ of }: { readonly of: Named | undefined }) =>
  of?.missingSecrets === undefined ? null : (
    <p class="notice" role="status">
      {of.name} is stored. It names {of.missingSecrets.length === 1 ? 'the secret' : 'the secrets'}{' '}
      <code>{of.missingSecrets.join(', ')}</code>, not stored yet: add it under Secrets.
    </p>
  );

/** Words of a field that takes several, divided by commas or lines. */
export const wordsIn = (text: string): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
