import { usePages } from '../data/pages.ts';
import type { Trigger } from '../data/types.ts';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { SelectField } from '../parts/fields.tsx';
import { To, WorkflowLink } from '../parts/link.tsx';
import { Listed } from '../parts/more.tsx';
import { Screen } from '../parts/screen.tsx';
import { EnabledBadge } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { type Place, queryText } from '../routes.ts';
import { startsAt } from './trigger-words.ts';

const POLL_MS = 10_000;
const LIMIT = 200;
const TYPES = ['manual', 'webhook', 'schedule', 'event'] as const;

export function TriggersScreen({ place }: { readonly place: Place<'triggers'> }) {
  const { type, enabled, workflowId } = place.query;
  const filter = { type, enabled, workflowId };
  const list = usePages<Trigger>('/api/triggers', { ...filter, limit: LIMIT }, { pollMs: POLL_MS });
  const isFiltered = queryText(filter) !== '';
  return (
    <Screen
      title="Triggers"
      actions={
        <>
          <Choice label="Type" value={type ?? ''} choices={TYPES} onValue={(value) => changeQuery({ type: value })} />
          <Choice
            label="State"
            value={enabled ?? ''}
            choices={['true', 'false']}
            words={{ true: 'enabled', false: 'disabled' }}
            onValue={(value) => changeQuery({ enabled: value })}
          />
        </>
      }
    >
      <Listed
        list={list}
        what="the triggers"
        empty={
          isFiltered ? (
            <>
              <p>No trigger matches.</p>
              <Button onClick={() => changeQuery({ type: undefined, enabled: undefined, workflowId: undefined })}>
                Show all triggers
              </Button>
            </>
          ) : (
            <>
              <p>Triggers of workflows stand here: webhooks, schedules and events that start runs.</p>
              <To to="workflows">Workflows declare them</To>
            </>
          )
        }
      >
        {(items) => <TriggerTable rows={items} />}
      </Listed>
    </Screen>
  );
}

const TriggerTable = ({ rows }: { readonly rows: readonly Trigger[] }) => (
  <Table
    label="Triggers"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      {
        label: 'Name',
        isPlain: true,
        cell: ({ id, name }) => (
          <To to="trigger" params={{ id }}>
            {name}
          </To>
        ),
      },
      { label: 'Starts', cell: ({ workflowId }) => <WorkflowLink slug={workflowId} /> },
      {
        label: 'By',
        cell: (trigger) => (
          <>
            {trigger.type} <code class="dim">{startsAt(trigger)}</code>
          </>
        ),
      },
      { label: 'State', isPlain: true, cell: EnabledBadge },
      {
        label: 'Last firing',
        cell: ({ last }) =>
          last === undefined ? (
            'never'
          ) : (
            <>
              {last.outcome} <Time at={last.at} />
            </>
          ),
      },
      {
        label: 'Started',
        isNumber: true,
        isExtra: true,
        cell: ({ counts }) => counts.started.toLocaleString('en-GB'),
      },
      {
        label: 'Refused',
        isNumber: true,
        isExtra: true,
        cell: ({ counts }) => counts.refused.toLocaleString('en-GB'),
      },
    ]}
  />
);

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly words?: { readonly [value: string]: string };
  readonly onValue: (value: string) => void;
}

const Choice = ({ label, value, choices, words = {}, onValue }: ChoiceProps) => (
  <div class="inline-field">
    <SelectField
      label={label}
      value={value}
      onValue={onValue}
      choices={[{ value: '', label: 'any' }, ...choices.map((one) => ({ value: one, label: words[one] ?? one }))]}
    />
  </div>
);
