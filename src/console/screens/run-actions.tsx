/** What people do to a run: dialogs that ask for what is needed, and say why something was refused. */
import { useState } from 'preact/hooks';
import { apiPath, post } from '../data/api.ts';
import { parseJsonInput } from '../data/parse-json-input.ts';
import { useAction } from '../data/resource.ts';
import type { Execution, Wait } from '../data/types.ts';
import { navigate } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { JsonField, TextArea, TextField, useTextFields } from '../parts/fields.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Problem } from '../parts/problem.tsx';
import { addressOf } from '../routes.ts';

type Save = Parameters<typeof FormDialog>[0]['save'];

interface DialogProps {
  readonly run: Execution;
  readonly onClose: () => void;
}

export function EndDialog({ run, how, onClose }: DialogProps & { readonly how: 'cancel' | 'terminate' }) {
  const [reason, setReason] = useState('');
  const isCancel = how === 'cancel';
  const title = isCancel ? 'Cancel the run' : 'Terminate the run';
  return (
    <FormDialog
      title={title}
      save={(headers) =>
        post(apiPath`/api/executions/${run.id}/${how}`, reason === '' ? undefined : { reason }, { headers })
      }
      saveLabel={title}
      kind="danger"
      needs={isCancel ? 'runner' : 'editor'}
      onClose={onClose}
    >
      <p>
        {isCancel
          ? 'All open steps are cancelled, and what has a rollback is rolled back.'
          : 'The run ends immediately. Nothing is rolled back.'}
      </p>
      <TextField label="Reason" hint="It stands in the run's error." value={reason} onValue={setReason} />
    </FormDialog>
  );
}

export function RetryButton({ run, onDone }: { readonly run: Execution; readonly onDone: () => void }) {
  const action = useAction(() => post(apiPath`/api/executions/${run.id}/retry`));
  return (
    <>
      <Button
        kind="primary"
        needs="runner"
        isBusy={action.isRunning}
        onClick={() =>
          void action.run().then((isDone) => {
            if (!isDone) return;
            announce('The run continues.');
            onDone();
          })
        }
      >
        Retry
      </Button>
      {action.problem === undefined ? null : (
        <Dialog title="The run was not retried" onClose={action.clear}>
          <Problem problem={action.problem} />
        </Dialog>
      )}
    </>
  );
}

/** `from`: the path of the visit that is selected. */
export function ForkDialog({ run, from, onClose }: DialogProps & { readonly from: string | undefined }) {
  const [{ path, version, input }, field] = useTextFields({ path: from ?? '', version: '', input: '' });
  const edited = parseJsonInput(input);
  const fork: Save = async (headers) => {
    const { executionId } = await post<{ executionId: string }>(
      apiPath`/api/executions/${run.id}/fork`,
      {
        from: path || undefined,
        version: version || undefined,
        edits: 'value' in edited ? { input: edited.value } : undefined,
      },
      { headers },
    );
    navigate(addressOf('run', { id: executionId }));
  };
  return (
    <FormDialog
      title="Fork the run"
      save={fork}
      saveLabel="Fork"
      needs="editor"
      onClose={onClose}
      isReady={edited.error === undefined}
      disabledReason="The input is no JSON."
    >
      {(problemAt) => (
        <>
          <p>A new run begins at a visit of this one, with the outputs, variables and state of that moment.</p>
          <TextField
            label="From"
            hint="The path of a visit, or a step that was visited once. Empty: from the beginning."
            {...field('path')}
            error={problemAt('/from')}
          />
          <TextField
            label="Version"
            hint="A hash or a number. Empty: the definition that this run had."
            {...field('version')}
            error={problemAt('/version')}
          />
          <JsonField
            label="New input"
            hint="JSON. Empty: the input of this run."
            {...field('input')}
            error={problemAt('/edits/input')}
          />
        </>
      )}
    </FormDialog>
  );
}

interface AnswerProps extends DialogProps {
  readonly wait: Wait;
}

export function DecideDialog({ run, wait, approve, onClose }: AnswerProps & { readonly approve: boolean }) {
  const [{ comments, data }, field] = useTextFields({ comments: '', data: '' });
  const given = parseJsonInput(data);
  const lacksComment = wait.commentRequired === true && comments.trim() === '';
  const decide: Save = (headers) =>
    post(
      apiPath`/api/executions/${run.id}/approve`,
      {
        approve,
        step: wait.path,
        resumeToken: wait.resumeToken,
        comments: comments || undefined,
        data: given.value,
      },
      { headers },
    );
  const title = approve ? 'Approve' : 'Reject';
  return (
    <FormDialog
      title={`${title} ${wait.stepSlug}`}
      save={decide}
      saveLabel={title}
      kind={approve ? 'primary' : 'danger'}
      needs="approver"
      onClose={onClose}
      isReady={!lacksComment && given.error === undefined}
      disabledReason={lacksComment ? 'This decision needs a comment.' : given.error}
    >
      {(problemAt) => (
        <>
          {wait.message === undefined ? null : <p>{wait.message}</p>}
          <TextArea
            label="Comment"
            {...field('comments')}
            rows={3}
            isRequired={wait.commentRequired === true}
            error={problemAt('/comments')}
          />
          {wait.form === undefined ? null : (
            <JsonField label="Values of the form" hint="JSON" {...field('data')} error={problemAt('/data')} />
          )}
        </>
      )}
    </FormDialog>
  );
}

/** Sends JSON to a step that waits for it: an input, or a message. */
export function SendDialog({ run, wait, onClose }: AnswerProps) {
  const isInput = wait.kind === 'input';
  const [{ name, text }, field] = useTextFields({ name: wait.name ?? '', text: '' });
  const given = parseJsonInput(text);
  const value = given.value ?? null;
  const title = isInput ? 'Submit' : 'Send the message';
  return (
    <FormDialog
      title={`${title}: ${wait.stepSlug}`}
      save={(headers) =>
        isInput
          ? post(apiPath`/api/executions/${run.id}/submit`, { data: value, step: wait.path }, { headers })
          : post(apiPath`/api/executions/${run.id}/messages/${name}`, value, { headers })
      }
      saveLabel={title}
      needs="runner"
      onClose={onClose}
      isReady={given.error === undefined && (isInput || name !== '')}
      disabledReason={given.error ?? 'The message needs a name.'}
    >
      {(problemAt) => (
        <>
          {wait.message === undefined ? null : <p>{wait.message}</p>}
          {isInput ? null : <TextField label="Name" {...field('name')} isRequired />}
          <JsonField
            label={isInput ? 'Data' : 'Payload'}
            hint="JSON. Empty: null."
            {...field('text')}
            error={problemAt('/data')}
          />
        </>
      )}
    </FormDialog>
  );
}
