/** A proposal: what it changes, a dry run of both sides with the same input, and its review. */
import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '../../json/json.ts';
import { apiPath, get, post } from '../data/api.ts';
import { changedParts } from '../data/changed-parts.ts';
import { type Resource, useAction, useResource } from '../data/resource.ts';
import type { DryRun, ProposalWithDifference, Validation, WorkflowHead } from '../data/types.ts';
import { loadDefinitions, loadTextComparison } from '../data/version-comparison.ts';
import { FormFields, formatIn, useForm } from '../form/form.tsx';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { DryRunResult } from '../parts/dry-run-result.tsx';
import { Facts } from '../parts/facts.tsx';
import { Form, TextField } from '../parts/fields.tsx';
import { RunLink } from '../parts/link.tsx';
import { ResourceView } from '../parts/loading.tsx';
import { Problem, ProblemList } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import type { RouteMatch } from '../routes.ts';
import { ChangedParts, changeMarks, GraphCard, TextDiff, WorkflowFrame } from './workflow-frame.tsx';

export function ProposalScreen({ route }: { readonly route: RouteMatch<'proposal'> }) {
  const { slug, id } = route.params;
  const [selected, setSelected] = useState<string>();
  const shown = useResource(`proposal ${slug} ${id}`, async (signal) => {
    const [proposal, head] = await Promise.all([
      get<ProposalWithDifference>(apiPath`/api/workflows/${slug}/proposals/${id}`, { signal }),
      get<WorkflowHead>(apiPath`/api/workflows/${slug}`, { signal }),
    ]);
    return { proposal, head };
  });
  const { baseWorkflowHash: base, proposalHash: proposed } = shown.data?.proposal ?? {};
  const hashes = base === undefined || proposed === undefined ? undefined : ([base, proposed] as const);
  const texts = useResource(hashes && `texts ${slug} ${hashes}`, (signal) =>
    loadTextComparison(slug, [{ hash: hashes![0] }, { hash: hashes![1] }], signal),
  );
  const definitions = useResource(hashes && `sides ${slug} ${hashes}`, async (signal) => {
    const [before, after] = await loadDefinitions(slug, hashes!, signal);
    return { before, after };
  });
  // What the checker says today: a tool or a workflow that it needs may be gone since.
  const checked = useResource(definitions.data && `check ${slug} ${hashes}`, (signal) =>
    post<Validation>('/api/workflows/validate', definitions.data?.after, { signal }),
  );
  return (
    <WorkflowFrame slug={slug} title={shown.data?.proposal.notes ?? 'Proposal'} tab="proposals">
      <ResourceView resource={shown} what="the proposal">
        {({ proposal, head }) => {
          const parts = changedParts(proposal.changes);
          return (
            <>
              <ProposalDetails proposal={proposal} head={head} />
              <h2>What it changes</h2>
              <ChangedParts parts={parts} onSelect={setSelected} />
              {parts.some(({ isStep }) => isStep) ? (
                <GraphCard
                  slug={slug}
                  hash={proposal.proposalHash}
                  marks={changeMarks(parts)}
                  selected={selected}
                  onSelect={setSelected}
                />
              ) : null}
              <TextDiff resource={texts} names={['Before', 'After']} />
              <CheckResult resource={checked} />
              <details class="card">
                <summary>Try both with the same input</summary>
                <ResourceView resource={definitions} what="both versions">
                  {(sides) => <DryRunComparison {...sides} />}
                </ResourceView>
              </details>
              <Review slug={slug} proposal={proposal} isStale={isStale(proposal, head)} onDone={shown.reload} />
            </>
          );
        }}
      </ResourceView>
    </WorkflowFrame>
  );
}

/** The workflow has changed since: the proposal cannot be applied any more. */
const isStale = ({ status, baseWorkflowHash }: ProposalWithDifference, { hash }: WorkflowHead): boolean =>
  (status === 'pending' || status === 'approved') && baseWorkflowHash !== hash;

function ProposalDetails({
  proposal,
  head,
}: {
  readonly proposal: ProposalWithDifference;
  readonly head: WorkflowHead;
}) {
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
        entries={{
          Status: status,
          Proposed: (
            <>
              <Time at={createdAt} isTabStop />
              {proposedBy === undefined ? null : ` by ${proposedBy}`}
              {executionId === undefined ? null : (
                <>
                  {' '}
                  in the run <RunLink id={executionId} />
                </>
              )}
            </>
          ),
          Expires: status === 'pending' ? <Time at={expiresAt} isTabStop /> : undefined,
          Reviewed: review && (
            <>
              {review.decision === 'approve' ? 'approved' : 'rejected'} <Time at={review.at} isTabStop />
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
const CheckResult = ({ resource }: { readonly resource: Resource<Validation> }) => (
  <ResourceView resource={resource} what="the check">
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
  </ResourceView>
);

function DryRunComparison({ before, after }: { readonly before: JsonObject; readonly after: JsonObject }) {
  const format = formatIn(after['input']);
  const form = useForm(format, format === undefined ? {} : undefined);
  const [runs, setRuns] = useState<{ readonly before: DryRun; readonly after: DryRun }>();
  const dryRunBoth = useAction(async (input: Json) => {
    const dryRunOf = (definition: JsonObject) =>
      post<DryRun>(apiPath`/api/executions`, { definition, input, dryRun: true });
    const [first, second] = await Promise.all([dryRunOf(before), dryRunOf(after)]);
    setRuns({ before: first, after: second });
    announce(`Before: ${first.status}. After: ${second.status}.`);
  });
  return (
    <Form
      label="Input of the dry run"
      onSubmit={() => {
        const read = form.submit();
        if (read !== undefined) void dryRunBoth.run(read.value);
      }}
    >
      <FormFields form={form} label="Input" />
      <Problem problem={dryRunBoth.problem} />
      <div class="actions">
        <Button type="submit" needs="runner" isBusy={dryRunBoth.isRunning}>
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
    const path = apiPath`/api/workflows/${slug}/proposals/${id}`;
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
            disabledReason="The workflow has changed since."
            onClick={() => void act.run('apply')}
          >
            Apply
          </Button>
        )}
      </div>
    </section>
  );
}
