/** Approvals that were decided: who decided, when and why. The filters are in the address. */
import { useState } from 'preact/hooks';
import { usePages } from '../data/pages.ts';
import { endedText, messageOf, type Question, workflowNameOf } from '../data/questions.ts';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { SelectField, TextField } from '../parts/fields.tsx';
import { KindIcon } from '../parts/icons.tsx';
import { To } from '../parts/link.tsx';
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
          <ul class="questions" aria-label="Decisions">
            {items.map((one) => (
              <li key={`${one.executionId} ${one.path} ${one.answer?.at ?? ''}`}>
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
    <form
      class="decided-filter"
      onSubmit={(event) => {
        event.preventDefault();
        changeQuery(Object.fromEntries(FIELDS.map(({ name }) => [name, values[name]?.trim()])), { replace: false });
      }}
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
    </form>
  );
}

function DecisionRow({ decision }: { readonly decision: Question }) {
  const { executionId, path, stepSlug, resourceType, resourceId, answer, unreadable } = decision;
  if (unreadable !== undefined)
    return (
      <p>
        <To to="run" params={{ id: executionId }}>
          {decision.workflowId}
        </To>{' '}
        has decisions that cannot be read: {unreadable.message}
      </p>
    );
  const resource = [resourceType, resourceId].filter((one) => one !== undefined).join(' ');
  return (
    <>
      <To to="approval" params={{ executionId, path }} class="question-link">
        <KindIcon kind="approval" /> {messageOf(decision)}
      </To>
      {answer === undefined ? null : (
        <p>
          <strong>{endedText(answer)}</strong> <Time at={answer.at} />
          {answer.comments === undefined || answer.comments === null || answer.comments === '' ? null : (
            <>
              <br />
              <q>{answer.comments}</q>
            </>
          )}
        </p>
      )}
      <p class="question-facts dim">
        <span>{workflowNameOf(decision)}</span>
        <span>{stepSlug}</span>
        {resource === '' ? null : <span>{resource}</span>}
        <To to="run" params={{ id: executionId }}>
          The run
        </To>
      </p>
    </>
  );
}
