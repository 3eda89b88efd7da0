/** What the sections of the settings share. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Pages, usePages } from '../../data/pages.ts';
import { useMay } from '../../data/session.ts';
import type { Role } from '../../data/types.ts';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form-dialog.tsx';
import { Empty } from '../../parts/loading.tsx';
import { Listed } from '../../parts/more.tsx';
import { type Column, Table } from '../../parts/table.tsx';

const LIMIT = 200;

/** A list for a section. Nothing is asked for without the role. */
export function useList<T>(path: string, role: Role): Pages<T> {
  const may = useMay(role);
  return usePages<T>(may ? path : undefined, { limit: LIMIT });
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

/** What stands open beside a list: the dialog of a new one, or of an action on one. */
export interface Opened<T> {
  readonly kind: string;
  readonly item?: T;
}

interface ActionOfRow {
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
  readonly writtenBy: Role;
  readonly notice?: ComponentChildren;
  readonly empty: ComponentChildren;
  readonly columns: readonly Column<T>[];
  readonly actions?: readonly ActionOfRow[];
  readonly deletion: {
    readonly verb?: string;
    readonly pathOf: (item: T) => string;
    readonly about: (item: T) => string;
  };
  /** The dialog for a new one (`new`) or for an action. */
  readonly dialog: (opened: Opened<T>, close: (isChanged: boolean) => void) => ComponentChildren;
}

/** A list of what has names: each can be made, changed and deleted. */
export function ListSection<T extends { readonly name: string }>(props: ListSectionProps<T>) {
  const { about, readBy, writtenBy, list, noun, label, notice, empty, columns, deletion, dialog } = props;
  const { verb = 'Delete' } = deletion;
  const [opened, setOpened] = useState<Opened<T>>();
  const close = (isChanged: boolean): void => {
    setOpened(undefined);
    if (isChanged) list.first.again();
  };
  const actions: readonly ActionOfRow[] = [...(props.actions ?? []), { kind: 'delete', text: `${verb}…` }];
  const actionsColumn: Column<T> = {
    label: <span class="hidden">Actions</span>,
    cell: (item) => (
      <span class="row">
        {actions.map(({ kind, text, label: named = text.replace('…', ''), needs = writtenBy }) => (
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
      readBy={readBy}
      actions={
        <Button kind="primary" needs={writtenBy} onClick={() => setOpened({ kind: 'new' })}>
          New {noun}
        </Button>
      }
    >
      {notice}
      <Listed list={list} what={`the ${noun}s`} empty={<p>{empty}</p>}>
        {(items) => <Table label={label} rows={items} keyOf={keyOf} columns={[...columns, actionsColumn]} />}
      </Listed>
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
