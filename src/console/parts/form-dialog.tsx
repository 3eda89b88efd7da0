/** Forms in dialogs: a refusal stays in the dialog, and a second click does nothing. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { remove } from '../data/api.ts';
import { problemAt } from '../data/problem.ts';
import { useAction } from '../data/resource.ts';
import type { Role } from '../data/types.ts';
import { Button } from './button.tsx';
import { Actions, Dialog } from './dialog.tsx';
import { Form, TextField } from './fields.tsx';
import { Problem } from './problem.tsx';

interface FormDialogProps {
  readonly title: string;
  /** With the headers of one request for each opening: a second click repeats it, and does nothing twice. */
  readonly save: (headers: { readonly 'Idempotency-Key': string }) => Promise<unknown>;
  readonly saveLabel?: string;
  readonly kind?: 'primary' | 'danger';
  /** Who may save. */
  readonly needs?: Role;
  /** After it was saved, or given up. */
  readonly onClose: (isSaved: boolean) => void;
  readonly isReady?: boolean;
  /** Why saving is disabled. */
  readonly disabledReason?: string | undefined;
  /** A field gets its problem from `problemAt`, by its JSON pointer. Other problems are shown below the fields. */
  readonly children: ComponentChildren | ((problemAt: (pointer: string) => string | undefined) => ComponentChildren);
}

export function FormDialog(props: FormDialogProps) {
  const {
    title,
    save,
    saveLabel = 'Save',
    kind = 'primary',
    needs,
    onClose,
    isReady = true,
    disabledReason,
    children,
  } = props;
  const [headers] = useState(() => ({ 'Idempotency-Key': `console-${crypto.randomUUID()}` }));
  const action = useAction(() => save(headers));
  const submit = async (): Promise<void> => {
    if (isReady && (await action.run())) onClose(true);
  };
  const shownPointers: string[] = [];
  const problemOfField = (pointer: string): string | undefined => {
    shownPointers.push(pointer);
    return problemAt(action.problem, pointer);
  };
  return (
    <Dialog title={title} onClose={() => onClose(false)}>
      <Form onSubmit={() => void submit()}>
        {typeof children === 'function' ? children(problemOfField) : children}
        <Problem problem={action.problem} shownPointers={shownPointers} />
        <Actions>
          <Button onClick={() => onClose(false)}>Back</Button>
          <Button
            type="submit"
            kind={kind}
            needs={needs}
            isBusy={action.isRunning}
            isDisabled={!isReady}
            disabledReason={disabledReason}
          >
            {saveLabel}
          </Button>
        </Actions>
      </Form>
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
  return (
    <FormDialog
      title={`${verb} the ${noun} ${name}`}
      save={() => remove(path)}
      saveLabel={verb}
      kind="danger"
      onClose={onClose}
      isReady={written.trim() === name}
      disabledReason="Write the name first."
    >
      <p>{about}</p>
      <TextField label={`Write ${name} to confirm`} value={written} onValue={setWritten} />
    </FormDialog>
  );
}
