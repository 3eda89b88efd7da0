/** Approvals that were decided: who decided, when and why. The filters are in the address. */
import { useState } from 'preact/hooks';
import { usePages } from '../data/pages.ts';
import {
  messageOf,
  outcomeText,
  type Question,
  type QuestionOutcome,
  subjectOf,
  workflowNameOf,
} from '../data/questions.ts';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { Form, SelectField, TextField } from '../parts/fields.tsx';
import { KindIcon } from '../parts/icons.tsx';
import { RunLink, ScreenLink } from '../parts/link.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Time } from '../parts/time.tsx';
import type { Query } from '../routes.ts';

const POLL_MS = 10_000;
const PAGE_SIZE = 50;
const DECISIONS = [
  { value: 'any', label: 'any' },
  { value: 'approved', label: 'approved' },
  { value: 'rejected', label: 'rejected' },
];
const FIELDS = [
  { name: 'approver', label: 'Person' },
  { name: 'resourceType', label: 'Resource type' },
  { name: 'resourceId', label: 'Resource' },
  { name: 'workflowId', label: 'Workflow' },
  { name: 'executionId', label: 'Run' },
] as const;

/** The query without filters and tab. */
export const CLEARED_FILTERS: Query = Object.fromEntries(
  ['decided', ...FIELDS.map(({ name }) => name)].map((name) => [name, undefined]),
);

export function DecidedApprovals({ query }: { readonly query: { readonly [name: string]: string } }) {
  const decided = DECISIONS.some(({ value }) => value === query['decided']) ? query['decided'] : 'any';
  const filters = Object.fromEntries(FIELDS.map(({ name }) => [name, query[name]]));
  const list = usePages<Question>('/api/approvals', { ...filters, decided, limit: PAGE_SIZE }, { pollMs: POLL_MS });
  return (
    <>
      <Filter key={JSON.stringify(filters)} decided={decided ?? 'any'} filters={filters} />
      <p class="dim decided-note">
        Decisions made before version 0.4 are not listed: they are in the steps of their runs, as submitted inputs are.
      </p>
      <PagedList list={list} what="the decisions" empty={<p>No decision matches.</p>}>
        {(items) => (
          <ul class="plain stack questions" aria-label="Decisions">
            {items.map((one) => (
              <li key={`${one.executionId} ${one.path} ${one.answer?.at ?? ''}`} class="card">
                <DecisionRow decision={one} />
              </li>
            ))}
          </ul>
        )}
      </PagedList>
    </>
  );
}

interface FilterProps {
  readonly decided: string;
  readonly filters: Query;
}

function Filter({ decided, filters }: FilterProps) {
  const [values, setValues] = useState(filters);
  return (
    <Form
      class="decided-filter"
      onSubmit={() =>
        changeQuery(Object.fromEntries(FIELDS.map(({ name }) => [name, values[name]?.trim()])), { replace: false })
      }
    >
      <SelectField
        label="Decision"
        value={decided}
        choices={DECISIONS}
        onValue={(value) => changeQuery({ decided: value })}
      />
      {FIELDS.map(({ name, label }) => (
        <TextField
          key={name}
          label={label}
          value={values[name] ?? ''}
          onValue={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      <Button type="submit">Filter</Button>
    </Form>
  );
}

/** The row of a run whose questions or decisions cannot be decoded. */
export const UnreadableQuestion = ({ row, children }: { readonly row: Question; readonly children: string }) => (
  <p>
    <RunLink id={row.executionId}>{row.workflowId}</RunLink> {children}: {row.unreadable?.message}
  </p>
);

interface AnswerLineProps {
  readonly answer: QuestionOutcome;
  /** Outside of a list. */
  readonly isTabStop?: boolean;
}

/** How a question ended. */
export const AnswerLine = ({ answer, isTabStop = false }: AnswerLineProps) => (
  <p>
    <strong>{outcomeText(answer)}</strong> <Time at={answer.at} isTabStop={isTabStop} />
    {answer.comments ? (
      <>
        <br />
        <q>{answer.comments}</q>
      </>
    ) : null}
  </p>
);

function DecisionRow({ decision }: { readonly decision: Question }) {
  const { executionId, path, stepSlug, answer, unreadable } = decision;
  if (unreadable !== undefined)
    return <UnreadableQuestion row={decision}>has decisions that cannot be read</UnreadableQuestion>;
  const subject = subjectOf(decision);
  return (
    <>
      <ScreenLink to="approval" params={{ executionId, path }} class="question-link">
        <KindIcon kind="approval" /> {messageOf(decision)}
      </ScreenLink>
      {answer && <AnswerLine answer={answer} />}
      <p class="question-facts dim">
        <span>{workflowNameOf(decision)}</span>
        <span>{stepSlug}</span>
        {subject === '' ? null : <span>{subject}</span>}
        <RunLink id={executionId}>The run</RunLink>
      </p>
    </>
  );
}
