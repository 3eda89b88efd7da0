/** Columns of tables of runs. */
import { shortId, startedBy, waitText, workflowLabel } from '../data/run-text.ts';
import type { Execution } from '../data/types.ts';
import { RunLink } from '../parts/link.tsx';
import { StatusBadge } from '../parts/status.tsx';
import type { Column } from '../parts/table.tsx';
import { Duration, Time } from '../parts/time.tsx';

export const statusColumn: Column<Execution> = {
  label: 'Status',
  isPlain: true,
  cell: ({ status, paused }) => (
    <span class="row">
      <StatusBadge status={status} />
      {paused === true ? <span class="dim">paused</span> : null}
    </span>
  ),
};

export const workflowColumn: Column<Execution> = {
  label: 'Workflow',
  isPlain: true,
  cell: (run) => (
    <>
      <RunLink id={run.id}>{workflowLabel(run)}</RunLink>{' '}
      <code class="dim short-id" title={run.id}>
        {shortId(run.id)}
      </code>
    </>
  ),
};

/** Replaces the workflow column in lists of one workflow's runs. */
export const idColumn: Column<Execution> = {
  label: 'Run',
  isPlain: true,
  cell: ({ id }) => (
    <RunLink id={id}>
      <code title={id}>{shortId(id)}</code>
    </RunLink>
  ),
};

export const versionColumn: Column<Execution> = {
  label: 'Version',
  isExtra: true,
  cell: ({ workflowVersion }) => workflowVersion ?? '',
};

/** What the run waits for, or why it failed. */
export const waitOrErrorColumn: Column<Execution> = {
  label: 'Waits for, or error',
  cell: ({ waitingFor, error, unreadable }) => {
    if (error !== undefined) return <code title={error.message}>{error.code}</code>;
    const [first, ...others] = waitingFor;
    if (first === undefined) return unreadable === undefined ? '' : <code>{unreadable.code}</code>;
    return (
      <>
        {waitText(first.kind)} in <code>{first.stepSlug}</code>
        {others.length === 0 ? '' : `, and ${others.length} more`}
      </>
    );
  },
};

export const startedColumn: Column<Execution> = {
  label: 'Started',
  cell: ({ startedAt }) => <Time at={startedAt} />,
};

export const durationColumn: Column<Execution> = {
  label: 'Duration',
  isNumber: true,
  isExtra: true,
  cell: ({ startedAt, completedAt }) => <Duration from={startedAt} to={completedAt} />,
};

export const startedByColumn: Column<Execution> = { label: 'By', isExtra: true, cell: startedBy };
