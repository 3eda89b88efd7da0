/** Approvals that were decided: who decided, when and why. The filters are in the address. */
import { useState } from 'preact/hooks';
import { usePages } from '../data/pages.ts';
import { type Ended, endedText, messageOf, type Question, subjectOf, workflowNameOf } from '../data/questions.ts';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { Form, SelectField, TextField } from '../parts/fields.tsx';
import { KindIcon } from '../parts/icons.tsx';
import { RunLink, To } from '../parts/link.tsx';
import { Listed } from '../parts/more.tsx';
import { Time } from '../parts/time.tsx';
import type { Query } from '../routes.ts';

const POLL_MS = 10_000;
const PAGE = 50;
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

/** An address without any of the filters, and without the tab. */
export const UNDECIDED: Query = Object.fromEntries(
  ['decided', ...FIELDS.map(({ name }) => name)].map((name) => [name, undefined]),
);

export function DecidedApprovals({ query }: { readonly query: { readonly [name: string]: string } }) {
  const decided = DECISIONS.some(({ value }) => value === query['decided']) ? query['decided'] : 'any';
  const given = Object.fromEntries(FIELDS.map(({ name }) => [name, query[name]]));
  const list = usePages<Question>('/api/approvals', { ...given, decided, limit: PAGE }, { pollMs: POLL_MS });
  return (
    <>
      <Filter key={JSON.stringify(given)} decided={decided ?? 'any'} given={given} />
      <p class="dim decided-note">
        Decisions made before version 0.4 are not listed: they are in the steps of their runs, as submitted inputs are.
      </p>
      <Listed list={list} what="the decisions" empty={<p>No decision matches.</p>}>
        {(items) => (
          <ul class="plain stack questions" aria-label="Decisions">
            {items.map((one) => (
              <li key={`${one.executionId} ${one.path} ${one.answer?.at ?? ''}`} class="card">
                <DecisionRow decision={one} />
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </>
  );
}

interface FilterProps {
  readonly decided: string;
  readonly given: Query;
}

function Filter({ decided, given }: FilterProps) {
  const [values, setValues] = useState(given);
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

/** The row of a run whose questions or decisions cannot be read. */
export const UnreadRow = ({ row, children }: { readonly row: Question; readonly children: string }) => (
  <p>
    <RunLink id={row.executionId}>{row.workflowId}</RunLink> {children}: {row.unreadable?.message}
  </p>
);

interface AnswerLineProps {
  readonly answer: Ended;
  /** Outside of a list. */
  readonly isStop?: boolean;
}

/** How a question ended. */
export const AnswerLine = ({ answer, isStop = false }: AnswerLineProps) => (
  <p>
    <strong>{endedText(answer)}</strong> <Time at={answer.at} isStop={isStop} />
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
  if (unreadable !== undefined) return <UnreadRow row={decision}>has decisions that cannot be read</UnreadRow>;
  const subject = subjectOf(decision);
  return (
    <>
      <To to="approval" params={{ executionId, path }} class="question-link">
        <KindIcon kind="approval" /> {messageOf(decision)}
      </To>
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
