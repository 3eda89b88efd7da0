/** What the sections of the settings share. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { get, remove } from '../../data/api.ts';
import { type Resource, useAction, useResource } from '../../data/resource.ts';
import { useMay } from '../../data/session.ts';
import type { Role } from '../../data/types.ts';
import { Button } from '../../parts/button.tsx';
import { Actions, Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { Empty } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';

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

interface FormDialogProps {
  readonly title: string;
  readonly save: () => Promise<unknown>;
  readonly saveLabel?: string;
  /** After it was saved, or given up. */
  readonly onClose: (isSaved: boolean) => void;
  readonly isReady?: boolean;
  /** Why it cannot be saved yet. */
  readonly why?: string;
  /** Pointers of problems that fields show. */
  readonly shown?: readonly string[];
  readonly children: (problem: ReturnType<typeof useAction>['problem']) => ComponentChildren;
}

/** A form in a dialog. A refusal stays in it. */
export function FormDialog(props: FormDialogProps) {
  const { title, save, saveLabel = 'Save', onClose, isReady = true, why, shown = [], children } = props;
  const action = useAction(save);
  const submit = async (): Promise<void> => {
    if (isReady && (await action.run())) onClose(true);
  };
  return (
    <Dialog title={title} onClose={() => onClose(false)}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children(action.problem)}
        <Problem problem={action.problem} shown={shown} />
        <Actions>
          <Button onClick={() => onClose(false)}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={action.isRunning} isDisabled={!isReady} why={why}>
            {saveLabel}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

interface DeleteProps {
  /** `secret`, `model`. */
  readonly noun: string;
  readonly name: string;
  readonly path: string;
  /** What happens to those who use it. */
  readonly about: string;
  readonly verb?: string;
  readonly onClose: (isDeleted: boolean) => void;
}

/** Deletes after the name was written. */
export function DeleteDialog({ noun, name, path, about, verb = 'Delete', onClose }: DeleteProps) {
  const [written, setWritten] = useState('');
  const action = useAction(() => remove(path));
  const isSame = written.trim() === name;
  return (
    <Dialog title={`${verb} the ${noun} ${name}`} onClose={() => onClose(false)}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isSame) void action.run().then((isDone) => isDone && onClose(true));
        }}
      >
        <p>{about}</p>
        <TextField label={`Write ${name} to confirm`} value={written} onValue={setWritten} />
        <Problem problem={action.problem} />
        <Actions>
          <Button onClick={() => onClose(false)}>Cancel</Button>
          <Button
            type="submit"
            kind="danger"
            isBusy={action.isRunning}
            isDisabled={!isSame}
            why="Write the name first."
          >
            {verb}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

/** Words of a field that takes several, divided by commas or lines. */
export const wordsIn = (text: string): readonly string[] =>
  text
    .split(/[\n,]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
