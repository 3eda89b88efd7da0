/** A proposal: what it changes, a dry run of both sides with the same input, and its review. */
import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '../../json/json.ts';
import { at, get, post } from '../data/api.ts';
import { comparedTexts, definitionsOf } from '../data/compared.ts';
import { partsOf } from '../data/parts-changed.ts';
import { type Resource, useAction, useResource } from '../data/resource.ts';
import type { DryRun, ProposalWithDifference, Validation, WorkflowHead } from '../data/types.ts';
import { FormFields, formatIn, useForm } from '../form/form.tsx';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { DryRunResult } from '../parts/dry-run.tsx';
import { Facts } from '../parts/facts.tsx';
import { Form, TextField } from '../parts/fields.tsx';
import { RunLink } from '../parts/link.tsx';
import { Loaded } from '../parts/loading.tsx';
import { Problem, ProblemList } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import type { Place } from '../routes.ts';
import { ChangedParts, GraphCard, marksOf, SideBySide, WorkflowFrame } from './workflow-parts.tsx';

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
  const { baseWorkflowHash: base, proposalHash: proposed } = shown.data?.proposal ?? {};
  const hashes = base === undefined || proposed === undefined ? undefined : ([base, proposed] as const);
  const texts = useResource(hashes && `texts ${slug} ${hashes}`, (signal) =>
    comparedTexts(slug, [{ hash: hashes![0] }, { hash: hashes![1] }], signal),
  );
  const both = useResource(hashes && `sides ${slug} ${hashes}`, async (signal) => {
    const [before, after] = await definitionsOf(slug, hashes!, signal);
    return { before, after };
  });
  // What the checker says today: a tool or a workflow that it needs may be gone since.
  const checked = useResource(both.data && `check ${slug} ${hashes}`, (signal) =>
    post<Validation>('/api/workflows/validate', both.data?.after, { signal }),
  );
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
              <SideBySide resource={texts} names={['Before', 'After']} />
              <Checked resource={checked} />
              <details class="card">
                <summary>Try both with the same input</summary>
                <Loaded resource={both} what="both versions">
                  {(sides) => <Try {...sides} />}
                </Loaded>
              </details>
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
      <Facts
        of={{
          Status: status,
          Proposed: (
            <>
              <Time at={createdAt} isStop />
              {proposedBy === undefined ? null : ` by ${proposedBy}`}
              {executionId === undefined ? null : (
                <>
                  {' '}
                  in the run <RunLink id={executionId} />
                </>
              )}
            </>
          ),
          Expires: status === 'pending' ? <Time at={expiresAt} isStop /> : undefined,
          Reviewed: review && (
            <>
              {review.decision === 'approve' ? 'approved' : 'rejected'} <Time at={review.at} isStop />
              {review.by === undefined ? null : ` by ${review.by}`}
              {review.notes === undefined ? null : <q>{review.notes}</q>}
            </>
          ),
          Failed: error,
        }}
      />
    </section>
  );
}

/** What the checker finds in the proposed definition. */
const Checked = ({ resource }: { readonly resource: Resource<Validation> }) => (
  <Loaded resource={resource} what="the check">
    {({ problems, warnings }) =>
      problems.length + warnings.length === 0 ? (
        <p class="dim">The checker finds no problems in it.</p>
      ) : (
        <section class="card" aria-label="Problems">
          <h2>What the checker finds</h2>
          <ProblemList items={problems} />
          <ProblemList items={warnings} isWarning />
        </section>
      )
    }
  </Loaded>
);

function Try({ before, after }: { readonly before: JsonObject; readonly after: JsonObject }) {
  const format = formatIn(after['input']);
  const form = useForm(format, format === undefined ? {} : undefined);
  const [runs, setRuns] = useState<{ readonly before: DryRun; readonly after: DryRun }>();
  const walk = useAction(async (input: Json) => {
    const one = (definition: JsonObject) => post<DryRun>(at`/api/executions`, { definition, input, dryRun: true });
    const [first, second] = await Promise.all([one(before), one(after)]);
    setRuns({ before: first, after: second });
    announce(`Before: ${first.status}. After: ${second.status}.`);
  });
  return (
    <Form
      label="Input of the dry run"
      onSubmit={() => {
        const read = form.submit();
        if (read !== undefined) void walk.run(read.value);
      }}
    >
      <FormFields form={form} label="Input" />
      <Problem problem={walk.problem} />
      <div class="actions">
        <Button type="submit" needs="runner" isBusy={walk.isRunning}>
          Walk both without effects
        </Button>
      </div>
      {runs === undefined ? null : (
        <div class="columns">
          <section class="card" aria-label="Before">
            <DryRunResult run={runs.before}>Before</DryRunResult>
          </section>
          <section class="card" aria-label="After">
            <DryRunResult run={runs.after}>After</DryRunResult>
          </section>
        </div>
      )}
    </Form>
  );
}

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
    else await post(`${path}/review`, { decision: verb, notes: notes || undefined });
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
