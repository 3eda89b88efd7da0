/** Why a run is not completed: what it waits for, what it tries again, or why it failed, each with what one can do. */
import { type ComponentChildren, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { awaited, isRetryable } from '../data/run-words.ts';
import type { Execution, Wait } from '../data/types.ts';
import type { Visit } from '../graph/scope.ts';
import { hasScreen } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { Icon, StatusMark } from '../parts/icons.tsx';
import { RunLink, To } from '../parts/link.tsx';
import { Time } from '../parts/time.tsx';
import { hasEnded } from '../trace/run-store.ts';
import { DecideDialog, RetryButton, SendDialog } from './run-actions.tsx';

interface WhyProps {
  readonly run: Execution;
  /** Open visits that run, the innermost steps only. */
  readonly running: readonly Visit[];
  readonly onStep: (path: string) => void;
  /** The run was changed: load it anew. */
  readonly onChanged: () => void;
}

const MOST_SHOWN = 3;
/** What needs a person comes first. */
const ORDER: readonly Wait['kind'][] = [
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

export function Why({ run, running, onStep, onChanged }: WhyProps) {
  const [isAll, setAll] = useState(false);
  const { error, status } = run;
  if (hasEnded(run)) {
    if (error === undefined) return null;
    const isFailed = isRetryable(run);
    return (
      <section class={isFailed ? 'why failed' : 'why'} aria-label="Why it ended">
        <StatusMark status={status} />
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
  const waits = [...run.waitingFor].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const shown = isAll ? waits : waits.slice(0, MOST_SHOWN);
  return (
    <>
      {run.paused === true ? (
        <section class="why waiting" aria-label="Paused">
          <StatusMark status="waiting" />
          <div>
            Paused {run.pausedSince === undefined ? null : <Time at={run.pausedSince} isStop />}: no new step starts
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
      {waits.length === 0 && run.paused !== true ? <Works run={run} running={running} onStep={onStep} /> : null}
    </>
  );
}

function Works({ run, running, onStep }: Pick<WhyProps, 'run' | 'running' | 'onStep'>) {
  return (
    <section class="why running" aria-label="What it does now">
      <StatusMark status={run.status === 'rolling_back' ? 'rolling_back' : 'running'} />
      <div>
        {run.status === 'rolling_back' ? 'Rolls back.' : running.length === 0 ? 'Runs.' : 'Works on '}
        {running.slice(0, MOST_SHOWN).map(({ path, number }, n) => (
          <Fragment key={number}>
            {n === 0 ? '' : ', '}
            <StepLink path={path} onStep={onStep} />
          </Fragment>
        ))}
        {running.length > MOST_SHOWN ? ` and ${running.length - MOST_SHOWN} more` : ''}
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

type Opened = 'approve' | 'reject' | 'send' | undefined;

function WaitRow({ run, wait, onStep }: WaitProps) {
  const [opened, open] = useState<Opened>();
  const { kind, path, message } = wait;
  const close = (): void => open(undefined);
  const isForm = (kind === 'approval' || kind === 'input') && wait.form !== undefined && hasScreen('approval');
  return (
    <section class={`why ${kind === 'worker' ? 'failed' : 'waiting'}`} aria-label="What it waits for">
      {kind === 'worker' ? <Icon name="warning" /> : <StatusMark status="waiting" />}
      <div>
        {told(wait, <StepLink path={path} onStep={onStep} />)}
        {message === undefined ? null : <p>{message}</p>}
      </div>
      {isForm ? (
        <To class="button primary" to="approval" params={{ executionId: run.id, path }}>
          Answer…
        </To>
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

/** A wait in a sentence. */
function told(wait: Wait, step: ComponentChildren): ComponentChildren {
  const { since, until } = wait;
  const times = (
    <>
      {' '}
      since <Time at={since} isStop />
      {until === undefined ? null : (
        <>
          , until <Time at={until} isStop />
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
          {until === undefined ? 'soon' : <Time at={until} isStop />}. The last one failed:
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
          Waits for a decision{audience(wait)} in {step}
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
          Waits for {awaited(wait.kind)} in {step}
          {times}.
        </>
      );
  }
}

const audience = ({ audience: names = [] }: Wait): string =>
  names.length === 0 ? '' : ` by ${names.map((name) => name.replace(/^\w+:/, '')).join(', ')}`;
