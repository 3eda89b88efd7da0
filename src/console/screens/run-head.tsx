/** The head of a run: its name, status and actions. */
import { useState } from 'preact/hooks';
import { absoluteTimeText, countText } from '../data/format-text.ts';
import type { StreamState } from '../data/run-events.ts';
import { shortId } from '../data/run-text.ts';
import type { Execution } from '../data/types.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ExternalLink, RunLink, WorkflowLink } from '../parts/link.tsx';
import { Heading } from '../parts/screen.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Duration } from '../parts/time.tsx';
import { hasEnded } from '../trace/run-store.ts';
import { EndDialog, ForkDialog } from './run-actions.tsx';

interface HeadProps {
  readonly run: Execution;
  readonly stream: StreamState;
  readonly total: number;
  /** The path of the visit that is selected. */
  readonly visit: string | undefined;
}

const STREAM_TEXTS: { readonly [state in StreamState]?: string } = {
  live: 'live',
  polling: 'asked every 5 s: too many pages follow runs',
  lost: 'reconnecting…',
  paused: 'paused while hidden',
};

type OpenDialog = 'cancel' | 'terminate' | 'fork' | undefined;

export function RunHead({ run, stream, total, visit }: HeadProps) {
  const [opened, open] = useState<OpenDialog>();
  const { id, workflowId, workflowVersion, status, startedAt, completedAt, initiator, trigger, forkOf } = run;
  const isOver = hasEnded(run);
  const live = isOver ? undefined : STREAM_TEXTS[stream];
  const close = (): void => open(undefined);
  return (
    <div class="screen-head run-head">
      <Heading>{run.workflowName ?? (workflowId === '' ? 'Run' : workflowId)}</Heading>
      <StatusBadge status={status} />
      {live === undefined ? null : <span class={`stream ${stream}`}>{live}</span>}
      <span class="run-id">
        <code title={id}>{shortId(id)}</code>
        <CopyButton text={id} what="the id of the run" />
      </span>
      <span class="dim run-facts">
        {run.inline === true ? 'inline' : <WorkflowLink slug={workflowId} />}
        {workflowVersion === undefined ? '' : ` v${workflowVersion}`}
        {' · began '}
        {absoluteTimeText(Date.parse(startedAt))} by {initiator ?? trigger.name ?? trigger.type} ·{' '}
        <Duration from={startedAt} to={completedAt} /> · {countText(total, 'visit')}
        {forkOf === undefined ? null : (
          <>
            {' · fork of '}
            <RunLink id={forkOf.executionId} />
          </>
        )}
      </span>
      <span class="grow" />
      {isOver ? (
        <Button needs="editor" onClick={() => open('fork')}>
          Fork…
        </Button>
      ) : (
        <>
          <Button needs="runner" onClick={() => open('cancel')}>
            Cancel…
          </Button>
          <Button needs="editor" onClick={() => open('terminate')}>
            Terminate…
          </Button>
        </>
      )}
      {run.temporal.url === undefined ? null : (
        <span class="temporal">
          <ExternalLink href={run.temporal.url}>Temporal</ExternalLink>
        </span>
      )}
      {opened === 'fork' ? <ForkDialog run={run} from={visit} onClose={close} /> : null}
      {opened === 'cancel' || opened === 'terminate' ? <EndDialog run={run} how={opened} onClose={close} /> : null}
    </div>
  );
}
