/** A proposal: what it changes, a dry run of both sides with the same input, and its review. */
import { useState } from 'preact/hooks';
import type { Json } from '../../json/json.ts';
import { at, get, post } from '../data/api.ts';
import { partsOf } from '../data/parts-changed.ts';
import { useAction, useResource } from '../data/resource.ts';
import type { ProposalWithDifference, WorkflowHead } from '../data/types.ts';
import { FormFields, formatIn, useForm } from '../form/form.tsx';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/fields.tsx';
import { Json as JsonTree } from '../parts/json.tsx';
import { To } from '../parts/link.tsx';
import { Loaded } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import type { Place } from '../routes.ts';
import { ChangedParts, GraphCard, marksOf, SideBySide, WorkflowFrame } from './workflow-parts.tsx';

type Document = { readonly [member: string]: unknown };

export function ProposalScreen({ place }: { readonly place: Place<'proposal'> }) {
  const { slug, id } = place.params;
  const [selected, setSelected] = useState<string>();
  const shown = useResource(`proposal ${slug} ${id}`, async (signal) => {
    const [proposal, head] = await Promise.all([
      get<ProposalWithDifference>(at`/api/workflows/${slug}/proposals/${id}`, { signal }),
      get<WorkflowHead>(at`/api/workflows/${slug}`, { signal }),
    ]);
    return { proposal, head };
  });
  return (
    <WorkflowFrame slug={slug} title={shown.data?.proposal.notes ?? 'Proposal'} tab="proposals">
      <Loaded resource={shown} what="the proposal">
        {({ proposal, head }) => {
          const parts = partsOf(proposal.changes);
          return (
            <>
              <About proposal={proposal} head={head} />
              <h2>What it changes</h2>
              <ChangedParts parts={parts} onSelect={setSelected} />
              {parts.some(({ isStep }) => isStep) ? (
                <GraphCard
                  slug={slug}
                  hash={proposal.proposalHash}
                  marks={marksOf(parts)}
                  selected={selected}
                  onSelect={setSelected}
                />
              ) : null}
              <SideBySide label="Both definitions" unified={proposal.diffText} />
              <Tried slug={slug} proposal={proposal} />
              <Review slug={slug} proposal={proposal} isStale={isStale(proposal, head)} onDone={shown.again} />
            </>
          );
        }}
      </Loaded>
    </WorkflowFrame>
  );
}

/** The workflow has changed since: the proposal cannot be applied any more. */
const isStale = ({ status, baseWorkflowHash }: ProposalWithDifference, { hash }: WorkflowHead): boolean =>
  (status === 'pending' || status === 'approved') && baseWorkflowHash !== hash;

function About({ proposal, head }: { readonly proposal: ProposalWithDifference; readonly head: WorkflowHead }) {
  const { status, proposedBy, executionId, createdAt, expiresAt, review, error } = proposal;
  return (
    <section class="card" aria-label="About the proposal">
      {isStale(proposal, head) ? (
        <p class="notice" role="note">
          The workflow has changed since this was proposed, so it cannot be applied. Propose it again on the present
          version.
        </p>
      ) : null}
      <dl class="facts">
        <dt>Status</dt>
        <dd>{status}</dd>
        <dt>Proposed</dt>
        <dd>
          <Time at={createdAt} isStop />
          {proposedBy === undefined ? null : ` by ${proposedBy}`}
          {executionId === undefined ? null : (
            <>
              {' '}
              in the run{' '}
              <To to="run" params={{ id: executionId }}>
                …{executionId.slice(-8)}
              </To>
            </>
          )}
        </dd>
        {status === 'pending' ? (
          <>
            <dt>Expires</dt>
            <dd>
              <Time at={expiresAt} isStop />
            </dd>
          </>
        ) : null}
        {review === undefined ? null : (
          <>
            <dt>Reviewed</dt>
            <dd>
              {review.decision === 'approve' ? 'approved' : 'rejected'} <Time at={review.at} isStop />
              {review.by === undefined ? null : ` by ${review.by}`}
              {review.notes === undefined ? null : <q>{review.notes}</q>}
            </dd>
          </>
        )}
        {error === undefined ? null : (
          <>
            <dt>Failed</dt>
            <dd>{error}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

interface DryRun {
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly steps: readonly { readonly path: string; readonly status: string; readonly port?: string }[];
  readonly waits: readonly { readonly path: string; readonly kind: string }[];
  readonly problems: readonly { readonly pointer: string; readonly message: string }[];
}

/** Walks both sides without effects, with the same input. */
function Tried({ slug, proposal }: { readonly slug: string; readonly proposal: ProposalWithDifference }) {
  const versions = useResource(`sides ${slug} ${proposal.id}`, async (signal) => {
    const read = (hash: string) =>
      get<{ definition: Document }>(at`/api/workflows/${slug}/history/${hash}`, { signal });
    const [before, after] = await Promise.all([read(proposal.baseWorkflowHash), read(proposal.proposalHash)]);
    return { before: before.definition, after: after.definition };
  });
  return (
    <details class="card">
      <summary>Try both with the same input</summary>
      <Loaded resource={versions} what="both versions">
        {(both) => <Try {...both} />}
      </Loaded>
    </details>
  );
}

function Try({ before, after }: { readonly before: Document; readonly after: Document }) {
  const format = formatIn(after['input'] as Json | undefined);
  const form = useForm(format, format === undefined ? {} : undefined);
  const [runs, setRuns] = useState<{ readonly before: DryRun; readonly after: DryRun }>();
  const walk = useAction(async (input: Json) => {
    const one = (definition: Document) => post<DryRun>(at`/api/executions`, { definition, input, dryRun: true });
    const [first, second] = await Promise.all([one(before), one(after)]);
    setRuns({ before: first, after: second });
    announce(`Before: ${first.status}. After: ${second.status}.`);
  });
  return (
    <form
      class="form"
      aria-label="Input of the dry run"
      onSubmit={(event) => {
        event.preventDefault();
        const read = form.submit();
        if (read !== undefined) void walk.run(read.value);
      }}
    >
      <FormFields form={form} label="Input" />
      <Problem problem={walk.problem} />
      <div class="actions">
        <Button type="submit" needs="editor" isBusy={walk.isRunning}>
          Walk both without effects
        </Button>
      </div>
      {runs === undefined ? null : (
        <div class="columns">
          <DryResult title="Before" run={runs.before} />
          <DryResult title="After" run={runs.after} />
        </div>
      )}
    </form>
  );
}

const DryResult = ({ title, run }: { readonly title: string; readonly run: DryRun }) => (
  <section class="card" aria-label={title}>
    <h3>
      {title} <StatusBadge status={run.status} />
    </h3>
    {run.error === undefined ? null : (
      <p>
        <code>{run.error.code}</code> {run.error.message}
      </p>
    )}
    <ol class="dry-steps">
      {run.steps.map(({ path, status, port }) => (
        <li key={path}>
          <code>{path}</code> <span class="dim">{port ?? status}</span>
        </li>
      ))}
    </ol>
    {run.waits.map(({ path, kind }) => (
      <p key={path} class="dim">
        It waits for {kind} at <code>{path}</code>.
      </p>
    ))}
    {run.problems.map(({ pointer, message }) => (
      <p key={pointer}>{message}</p>
    ))}
    {run.output === undefined ? null : <JsonTree value={run.output} name="output" />}
  </section>
);

interface ReviewProps {
  readonly slug: string;
  readonly proposal: ProposalWithDifference;
  readonly isStale: boolean;
  readonly onDone: () => void;
}

function Review({ slug, proposal, isStale, onDone }: ReviewProps) {
  const { id, status } = proposal;
  const [notes, setNotes] = useState('');
  const act = useAction(async (verb: 'approve' | 'reject' | 'apply') => {
    const path = at`/api/workflows/${slug}/proposals/${id}`;
    if (verb === 'apply') await post(`${path}/apply`);
    else await post(`${path}/review`, { decision: verb, ...(notes === '' ? {} : { notes }) });
    announce({ approve: 'Approved.', reject: 'Rejected.', apply: 'Applied.' }[verb]);
    onDone();
  });
  if (status !== 'pending' && status !== 'approved') return <Problem problem={act.problem} />;
  return (
    <section class="card" aria-label="Review">
      {status === 'pending' ? <TextField label="Notes" value={notes} onValue={setNotes} /> : null}
      <Problem problem={act.problem} />
      <div class="actions">
        {status === 'pending' ? (
          <>
            <Button kind="danger" needs="approver" isBusy={act.isRunning} onClick={() => void act.run('reject')}>
              Reject
            </Button>
            <Button kind="primary" needs="approver" isBusy={act.isRunning} onClick={() => void act.run('approve')}>
              Approve
            </Button>
          </>
        ) : (
          <Button
            kind="primary"
            needs="editor"
            isBusy={act.isRunning}
            isDisabled={isStale}
            why="The workflow has changed since."
            onClick={() => void act.run('apply')}
          >
            Apply
          </Button>
        )}
      </div>
    </section>
  );
}
