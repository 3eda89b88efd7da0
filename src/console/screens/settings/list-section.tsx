/** What the sections of the settings share. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Pages, usePages } from '../../data/pages.ts';
import { useHasRole } from '../../data/session.ts';
import type { Role } from '../../data/types.ts';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form-dialog.tsx';
import { EmptyState } from '../../parts/loading.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { type Column, Table } from '../../parts/table.tsx';

const LIMIT = 200;

/** A list for a section. Nothing is asked for without the role. */
export function useList<T>(path: string, role: Role): Pages<T> {
  const may = useHasRole(role);
  return usePages<T>(may ? path : undefined, { limit: LIMIT });
}

interface SectionProps {
  readonly about: ComponentChildren;
  /** Who may see it. */
  readonly readRole: Role;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A section: its description, its actions, and its content for users with `readRole`. */
export function Section({ about, readRole, actions, children }: SectionProps) {
  const may = useHasRole(readRole);
  return (
    <div class="stack">
      <div class="row">
        <p class="dim">{about}</p>
        <span class="grow" />
        {actions}
      </div>
      {may ? children : <EmptyState>Only people with the role {readRole} see this.</EmptyState>}
    </div>
  );
}

/** The open dialog of a list: for a new item, or for an action on one. */
interface OpenedDialog<T> {
  readonly kind: string;
  readonly item?: T;
}

interface RowAction {
  readonly kind: string;
  readonly text: string;
  /** The text for screen readers, before the name. Default: the text without its dots. */
  readonly label?: string;
  /** Who may do it. Default: who may change the list. */
  readonly needs?: Role;
}

interface ListSectionProps<T> extends Omit<SectionProps, 'actions' | 'children'> {
  readonly list: Pages<T>;
  /** One of them, such as `model`. */
  readonly noun: string;
  /** What the table lists. */
  readonly label: string;
  /** Who may change it. */
  readonly writeRole: Role;
  readonly notice?: ComponentChildren;
  readonly empty: ComponentChildren;
  readonly columns: readonly Column<T>[];
  readonly actions?: readonly RowAction[];
  readonly deletion: {
    readonly verb?: string;
    readonly pathOf: (item: T) => string;
    readonly about: (item: T) => string;
  };
  /** The dialog for a new one (`new`) or for an action. */
  readonly dialog: (opened: OpenedDialog<T>, close: (isChanged: boolean) => void) => ComponentChildren;
}

/** A list of named items, which can be created, changed and deleted. */
export function ListSection<T extends { readonly name: string }>(props: ListSectionProps<T>) {
  const { about, readRole, writeRole, list, noun, label, notice, empty, columns, deletion, dialog } = props;
  const { verb = 'Delete' } = deletion;
  const [opened, setOpened] = useState<OpenedDialog<T>>();
  const close = (isChanged: boolean): void => {
    setOpened(undefined);
    if (isChanged) list.first.reload();
  };
  const actions: readonly RowAction[] = [...(props.actions ?? []), { kind: 'delete', text: `${verb}…` }];
  const actionsColumn: Column<T> = {
    label: <span class="hidden">Actions</span>,
    cell: (item) => (
      <span class="row">
        {actions.map(({ kind, text, label: named = text.replace('…', ''), needs = writeRole }) => (
          <Button key={kind} needs={needs} label={`${named} ${item.name}`} onClick={() => setOpened({ kind, item })}>
            {text}
          </Button>
        ))}
      </span>
    ),
  };
  return (
    <Section
      about={about}
      readRole={readRole}
      actions={
        <Button kind="primary" needs={writeRole} onClick={() => setOpened({ kind: 'new' })}>
          New {noun}
        </Button>
      }
    >
      {notice}
      <PagedList list={list} what={`the ${noun}s`} empty={<p>{empty}</p>}>
        {(items) => <Table label={label} rows={items} keyOf={keyOf} columns={[...columns, actionsColumn]} />}
      </PagedList>
      {opened?.kind === 'delete' && opened.item !== undefined ? (
        <DeleteDialog
          noun={noun}
          name={opened.item.name}
          path={deletion.pathOf(opened.item)}
          about={deletion.about(opened.item)}
          verb={verb}
          onClose={close}
        />
      ) : opened === undefined ? null : (
        dialog(opened, close)
      )}
    </Section>
  );
}

const keyOf = (item: { readonly name: string; readonly id?: string }): string => item.id ?? item.name;

interface StoredItem {
  readonly name: string;
  readonly missingSecrets?: readonly string[] | undefined;
}

/** The missing secrets that a model or server names that was just stored. */
export const MissingSecrets = ({ item }: { readonly item: StoredItem | undefined }) =>
  item?.missingSecrets === undefined ? null : (
    <p class="notice" role="status">
      {item.name} is stored. It names {item.missingSecrets.length === 1 ? 'the secret' : 'the secrets'}{' '}
      <code>{item.missingSecrets.join(', ')}</code>, not stored yet: add it under Secrets.
    </p>
  );

/** The values of a field that takes several, separated by commas or lines. */
export const splitList = (text: string): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
