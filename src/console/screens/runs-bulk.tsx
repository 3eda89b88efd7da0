/** Cancels, terminates or retries many runs: those that were chosen, or all that match the filters. */
import { useEffect, useState } from 'preact/hooks';
import { apiPath, post } from '../data/api.ts';
import { countText } from '../data/format-text.ts';
import { asApiProblem } from '../data/problem.ts';
import { useAction, useGet, useResource } from '../data/resource.ts';
import { isOpen, isRetryable, shortId } from '../data/run-text.ts';
import type { Execution, Role } from '../data/types.ts';
import { Button } from '../parts/button.tsx';
import { Actions, Dialog } from '../parts/dialog.tsx';
import { Form, TextArea } from '../parts/fields.tsx';
import { Problem } from '../parts/problem.tsx';
import { bulkFilter } from './runs-filter.ts';

export type ChosenRuns = ReadonlyMap<string, Execution>;

type ActionName = 'cancel' | 'terminate' | 'retry';

const ACTIONS: readonly {
  readonly name: ActionName;
  readonly label: string;
  readonly past: string;
  /** The role for runs one by one. All that match need an editor. */
  readonly role: Role;
  readonly about: string;
  readonly fits: (run: Execution) => boolean;
}[] = [
  {
    name: 'cancel',
    label: 'Cancel',
    past: 'cancelled',
    role: 'runner',
    about: 'Open steps are cancelled, and what a run has to undo is undone.',
    fits: isOpen,
  },
  {
    name: 'terminate',
    label: 'Terminate',
    past: 'terminated',
    role: 'editor',
    about: 'The runs end at once, and nothing is undone.',
    fits: isOpen,
  },
  {
    name: 'retry',
    label: 'Retry',
    past: 'retried',
    role: 'runner',
    about: 'The runs go on from their failed steps, with the same ids.',
    fits: isRetryable,
  },
];

interface BarProps {
  readonly chosen: ChosenRuns;
  readonly query: { readonly [name: string]: string };
  readonly clear: () => void;
  readonly done: () => void;
}

export function BulkBar({ chosen, query, clear, done }: BarProps) {
  const [isAllMatching, setAll] = useState(false);
  const [action, setAction] = useState<ActionName>();
  useEffect(() => {
    if (chosen.size === 0) setAll(false);
  }, [chosen.size]);
  if (chosen.size === 0) return null;
  const filter = bulkFilter(query);
  const close = (): void => {
    setAction(undefined);
    clear();
    done();
  };
  return (
    <section class="bulk" aria-label="Chosen runs">
      <b>{isAllMatching ? 'All that match' : `${countText(chosen.size, 'run')} chosen`}</b>
      <Button kind="link" onClick={() => setAll(!isAllMatching)}>
        {isAllMatching ? 'Only the chosen ones' : 'All that match'}
      </Button>
      <span class="grow" />
      {ACTIONS.map(({ name, label, role }) => (
        <Button
          key={name}
          needs={isAllMatching ? 'editor' : role}
          isDisabled={isAllMatching && name !== 'retry' && filter['errorCode'] !== undefined}
          disabledReason="All of them have ended: they have an error code."
          onClick={() => setAction(name)}
        >
          {label}…
        </Button>
      ))}
      <Button kind="quiet" onClick={clear}>
        Choose none
      </Button>
      {action === undefined ? null : isAllMatching ? (
        <AllDialog name={action} filter={filter} cancel={() => setAction(undefined)} close={close} />
      ) : (
        <ChosenDialog name={action} chosen={chosen} cancel={() => setAction(undefined)} close={close} />
      )}
    </section>
  );
}

const actionOf = (name: ActionName) => ACTIONS.find((action) => action.name === name)!;

interface FormProps {
  readonly name: ActionName;
  readonly isBusy: boolean;
  readonly isDisabled: boolean;
  readonly count: number | undefined;
  readonly cancel: () => void;
  readonly submit: (reason: string) => void;
}

/** What is about to happen to how many runs, and why. */
function ReasonForm({ name, isBusy, isDisabled, count, cancel, submit }: FormProps) {
  const [reason, setReason] = useState('');
  const { label, about } = actionOf(name);
  return (
    <Form onSubmit={() => isDisabled || isBusy || submit(reason.trim())}>
      <p>{about}</p>
      {name === 'retry' ? null : (
        <TextArea label="Reason" hint="It is kept with the runs." rows={2} value={reason} onValue={setReason} />
      )}
      <Actions>
        <Button onClick={cancel}>Back</Button>
        <Button
          type="submit"
          kind={name === 'retry' ? 'primary' : 'danger'}
          isBusy={isBusy}
          isDisabled={isDisabled}
          disabledReason="No run can be changed so."
        >
          {label} {count === undefined ? '' : countText(count, 'run')}
        </Button>
      </Actions>
    </Form>
  );
}

interface DialogProps {
  readonly name: ActionName;
  /** Without a change. */
  readonly cancel: () => void;
  /** After a change. */
  readonly close: () => void;
}

interface Outcome {
  readonly done: number;
  readonly refused: readonly { readonly id: string; readonly why: string }[];
}

function ChosenDialog({ name, chosen, cancel, close }: DialogProps & { readonly chosen: ChosenRuns }) {
  const { label, past, fits } = actionOf(name);
  // The rows go on being polled, and the operation is for those that were chosen.
  const [runs] = useState(() => [...chosen.values()].filter(fits));
  const [outcome, setOutcome] = useState<Outcome>();
  const skippedCount = chosen.size - runs.length;
  const act = useAction(async (reason: string) => {
    let progress: Outcome = { done: 0, refused: [] };
    setOutcome(progress);
    for (const { id } of runs) {
      try {
        await post(apiPath`/api/executions/${id}/${name}`, reason === '' ? undefined : { reason });
        progress = { ...progress, done: progress.done + 1 };
      } catch (thrown) {
        progress = { ...progress, refused: [...progress.refused, { id, why: asApiProblem(thrown).message }] };
      }
      setOutcome(progress);
    }
  });
  const count = (outcome?.done ?? 0) + (outcome?.refused.length ?? 0);
  return (
    <Dialog title={`${label} ${countText(runs.length, 'run')}`} onClose={outcome === undefined ? cancel : close}>
      {skippedCount > 0 ? (
        <p class="notice">
          {countText(skippedCount, 'chosen run')} cannot be {past}: {name === 'retry' ? 'not failed' : 'ended already'}.
        </p>
      ) : null}
      {outcome === undefined ? (
        <ReasonForm
          name={name}
          isBusy={act.isRunning}
          isDisabled={runs.length === 0}
          count={runs.length}
          cancel={cancel}
          submit={(reason) => void act.run(reason)}
        />
      ) : (
        <>
          <progress max={runs.length} value={count} aria-label="Progress" />
          <p role="status">
            {outcome.done} of {countText(runs.length, 'run')} {past}
            {act.isRunning ? '…' : '.'}
          </p>
          <ul class="plain stack views">
            {outcome.refused.map(({ id, why }) => (
              <li key={id}>
                <span>
                  <code>{shortId(id)}</code> {why}
                </span>
              </li>
            ))}
          </ul>
          <Actions>
            <Button onClick={close} isDisabled={act.isRunning} disabledReason="It is under way.">
              Close
            </Button>
          </Actions>
        </>
      )}
    </Dialog>
  );
}

interface Operation {
  readonly operationId: string;
  readonly status: 'running' | 'completed' | 'failed';
  readonly total?: number;
  readonly done: number;
  readonly failed: number;
}

const PROGRESS_MS = 1_000;

function AllDialog({ name, filter, cancel, close }: DialogProps & { readonly filter: object }) {
  const { label, past } = actionOf(name);
  const preview = useResource(`preview ${name} ${JSON.stringify(filter)}`, (signal) =>
    post<{ readonly count: number }>('/api/executions/bulk', { action: name, filter, preview: true }, { signal }),
  );
  const [startedOperation, setStartedOperation] = useState<Operation>();
  const start = useAction(async (reason: string) => {
    setStartedOperation(
      await post<Operation>('/api/executions/bulk', { action: name, filter, reason: reason || undefined }),
    );
  });
  const id = startedOperation?.operationId;
  const progress = useGet<Operation>(id && apiPath`/api/executions/bulk/${id}`, {
    pollMs: PROGRESS_MS,
    isFinal: ({ status }) => status !== 'running',
  });
  const operation = progress.data ?? startedOperation;
  const count = preview.data?.count;
  return (
    <Dialog title={`${label} all runs that match`} onClose={startedOperation === undefined ? cancel : close}>
      <Problem problem={preview.problem ?? start.problem ?? progress.problem} />
      {operation === undefined ? (
        <>
          <p role="status">
            {count === undefined ? 'Counting…' : `${countText(count, 'run')} would be ${past}, as of now.`}
          </p>
          <ReasonForm
            name={name}
            isBusy={start.isRunning || count === undefined}
            isDisabled={count === 0}
            count={count}
            cancel={cancel}
            submit={(reason) => void start.run(reason)}
          />
        </>
      ) : (
        <>
          <progress max={operation.total ?? 1} value={operation.done + operation.failed} aria-label="Progress" />
          <p role="status">
            {operation.status === 'running' ? 'Under way' : operation.status === 'completed' ? 'Done' : 'Failed'}:{' '}
            {operation.done} of {countText(operation.total ?? 0, 'run')} {past}
            {operation.failed === 0 ? '' : `, ${operation.failed} not`}. It goes on when you close this.
          </p>
          <Actions>
            <Button onClick={close}>Close</Button>
          </Actions>
        </>
      )}
    </Dialog>
  );
}
