/** Why a run is not completed: its waits, its retries, or its error, each with the actions for it. */
import { type ComponentChildren, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { isRetryable, waitText } from '../data/run-text.ts';
import type { Execution, Wait } from '../data/types.ts';
import type { Visit } from '../graph/scope.ts';
import { hasScreen } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { Icon, StatusIcon } from '../parts/icons.tsx';
import { RunLink, ScreenLink } from '../parts/link.tsx';
import { Time } from '../parts/time.tsx';
import { hasEnded } from '../trace/run-store.ts';
import { DecideDialog, RetryButton, SendDialog } from './run-actions.tsx';

interface RunStatusReasonProps {
  readonly run: Execution;
  /** Open visits that run, the innermost steps only. */
  readonly running: readonly Visit[];
  readonly onStep: (path: string) => void;
  /** Called after a change of the run: reload it. */
  readonly onChanged: () => void;
}

const MAX_SHOWN = 3;
/** What needs a person comes first. */
const WAIT_ORDER: readonly Wait['kind'][] = [
  'worker',
  'store',
  'approval',
  'input',
  'message',
  'callback',
  'unpause',
  'retry',
  'slot',
  'child',
  'timer',
];

export function RunStatusReason({ run, running, onStep, onChanged }: RunStatusReasonProps) {
  const [isAll, setAll] = useState(false);
  const { error, status } = run;
  if (hasEnded(run)) {
    if (error === undefined) return null;
    const isFailed = isRetryable(run);
    return (
      <section class={isFailed ? 'why failed' : 'why'} aria-label="Why it ended">
        <StatusIcon status={status} />
        <div>
          <b>{error.code}</b>
          {error.path === undefined ? null : (
            <>
              {' in '}
              <StepLink path={error.path} onStep={onStep} />
            </>
          )}
          {error.attempts !== undefined && error.attempts > 1 ? ` after ${error.attempts} attempts` : ''}
          <p>{error.message}</p>
        </div>
        {isFailed ? <RetryButton run={run} onDone={onChanged} /> : null}
      </section>
    );
  }
  const waits = [...run.waitingFor].sort((a, b) => WAIT_ORDER.indexOf(a.kind) - WAIT_ORDER.indexOf(b.kind));
  const shown = isAll ? waits : waits.slice(0, MAX_SHOWN);
  return (
    <>
      {run.paused === true ? (
        <section class="why waiting" aria-label="Paused">
          <StatusIcon status="waiting" />
          <div>
            Paused {run.pausedSince === undefined ? null : <Time at={run.pausedSince} isTabStop />}: no new step starts
            until the run gets the signal <code>resume</code>.
          </div>
        </section>
      ) : null}
      {shown.map((wait) => (
        <WaitRow key={`${wait.kind} ${wait.path} ${wait.since}`} run={run} wait={wait} onStep={onStep} />
      ))}
      {waits.length > shown.length ? (
        <section class="why waiting" aria-label="More waits">
          <div>
            And for {waits.length - shown.length} more.{' '}
            <Button kind="link" onClick={() => setAll(true)}>
              Show all
            </Button>
          </div>
        </section>
      ) : null}
      {waits.length === 0 && run.paused !== true ? <RunningSteps run={run} running={running} onStep={onStep} /> : null}
    </>
  );
}

function RunningSteps({ run, running, onStep }: Pick<RunStatusReasonProps, 'run' | 'running' | 'onStep'>) {
  return (
    <section class="why running" aria-label="What it does now">
      <StatusIcon status={run.status === 'rolling_back' ? 'rolling_back' : 'running'} />
      <div>
        {run.status === 'rolling_back' ? 'Rolls back.' : running.length === 0 ? 'Runs.' : 'Works on '}
        {running.slice(0, MAX_SHOWN).map(({ path, number }, n) => (
          <Fragment key={number}>
            {n === 0 ? '' : ', '}
            <StepLink path={path} onStep={onStep} />
          </Fragment>
        ))}
        {running.length > MAX_SHOWN ? ` and ${running.length - MAX_SHOWN} more` : ''}
      </div>
    </section>
  );
}

const StepLink = ({ path, onStep }: { readonly path: string; readonly onStep: (path: string) => void }) =>
  path === '' ? (
    <span>the run</span>
  ) : (
    <button type="button" class="step-link" onClick={() => onStep(path)}>
      {path}
    </button>
  );

interface WaitProps {
  readonly run: Execution;
  readonly wait: Wait;
  readonly onStep: (path: string) => void;
}

type OpenDialog = 'approve' | 'reject' | 'send' | undefined;

function WaitRow({ run, wait, onStep }: WaitProps) {
  const [opened, open] = useState<OpenDialog>();
  const { kind, path, message } = wait;
  const close = (): void => open(undefined);
  const isForm = (kind === 'approval' || kind === 'input') && wait.form !== undefined && hasScreen('approval');
  return (
    <section class={`why ${kind === 'worker' ? 'failed' : 'waiting'}`} aria-label="What it waits for">
      {kind === 'worker' ? <Icon name="warning" /> : <StatusIcon status="waiting" />}
      <div>
        {waitSentence(wait, <StepLink path={path} onStep={onStep} />)}
        {message === undefined ? null : <p>{message}</p>}
      </div>
      {isForm ? (
        <ScreenLink class="button primary" to="approval" params={{ executionId: run.id, path }}>
          Answer…
        </ScreenLink>
      ) : kind === 'approval' ? (
        <>
          <Button kind="primary" needs="approver" onClick={() => open('approve')}>
            Approve…
          </Button>
          <Button needs="approver" onClick={() => open('reject')}>
            Reject…
          </Button>
        </>
      ) : kind === 'input' ? (
        <Button kind="primary" needs="runner" onClick={() => open('send')}>
          Submit…
        </Button>
      ) : kind === 'message' ? (
        <Button needs="runner" onClick={() => open('send')}>
          Send message…
        </Button>
      ) : null}
      {opened === 'send' ? <SendDialog run={run} wait={wait} onClose={close} /> : null}
      {opened === 'approve' || opened === 'reject' ? (
        <DecideDialog run={run} wait={wait} approve={opened === 'approve'} onClose={close} />
      ) : null}
    </section>
  );
}

/** The sentence for a wait. */
function waitSentence(wait: Wait, step: ComponentChildren): ComponentChildren {
  const { since, until } = wait;
  const times = (
    <>
      {' '}
      since <Time at={since} isTabStop />
      {until === undefined ? null : (
        <>
          , until <Time at={until} isTabStop />
        </>
      )}
    </>
  );
  switch (wait.kind) {
    case 'worker':
      return <>No worker takes up what this run has to do{times}. Start one: the run then continues.</>;
    case 'retry':
      return (
        <>
          Attempt {wait.attempt}
          {wait.maxAttempts === undefined ? '' : ` of ${wait.maxAttempts}`} of {step} begins{' '}
          {until === undefined ? 'soon' : <Time at={until} isTabStop />}. The last one failed:
        </>
      );
    case 'unpause':
      return (
        <>
          The activity of {step} was paused through Temporal{times}: no attempt begins until{' '}
          <code>temporal activity unpause</code>.
        </>
      );
    case 'store':
      return (
        <>
          The store of large data does not take the result of {step}
          {times}. The step has run, and ends when the store is back.
        </>
      );
    case 'slot':
      return (
        <>
          Queued{wait.position === undefined ? '' : `: place ${wait.position}`}
          {wait.name === undefined ? '' : ` of the limit ${wait.name}`}
          {times}.
        </>
      );
    case 'child':
      return (
        <>
          {step} waits for{' '}
          {wait.executionId === undefined ? 'another run' : <RunLink id={wait.executionId}>another run</RunLink>}
          {times}.
        </>
      );
    case 'approval':
      return (
        <>
          Waits for a decision{byAudience(wait)} in {step}
          {wait.votes === undefined ? '' : ` (${wait.votes.have} of ${wait.votes.needed} votes)`}
          {times}.
        </>
      );
    case 'message':
      return (
        <>
          Waits for the message <code>{(wait.names ?? [wait.name]).join(', ')}</code> in {step}
          {times}.
        </>
      );
    default:
      return (
        <>
          Waits for {waitText(wait.kind)} in {step}
          {times}.
        </>
      );
  }
}

const byAudience = ({ audience: names = [] }: Wait): string =>
  names.length === 0 ? '' : ` by ${names.map((name) => name.replace(/^\w+:/, '')).join(', ')}`;
