import { usePages } from '../data/pages.ts';
import type { Trigger } from '../data/types.ts';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/fields.tsx';
import { To } from '../parts/link.tsx';
import { Listed } from '../parts/more.tsx';
import { Screen } from '../parts/screen.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { UnreadNotice } from '../parts/unread-notice.tsx';
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
      <UnreadNotice rows={list.first.data?.unreadable} />
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
              <To to="workflows" params={{}}>
                Workflows declare them
              </To>
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
        name: 'name',
        label: 'Name',
        isPlain: true,
        cell: ({ id, name }) => (
          <To to="trigger" params={{ id }}>
            {name}
          </To>
        ),
      },
      {
        name: 'workflow',
        label: 'Starts',
        cell: ({ workflowId }) => (
          <To to="workflow" params={{ slug: workflowId }}>
            {workflowId}
          </To>
        ),
      },
      {
        name: 'type',
        label: 'By',
        cell: (trigger) => (
          <>
            {trigger.type} <code class="dim">{startsAt(trigger)}</code>
          </>
        ),
      },
      {
        name: 'enabled',
        label: 'State',
        isPlain: true,
        cell: ({ enabled }) => (
          <span class={enabled ? 'badge completed' : 'badge'}>{enabled ? 'enabled' : 'disabled'}</span>
        ),
      },
      {
        name: 'last',
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
        name: 'started',
        label: 'Started',
        isNumber: true,
        isExtra: true,
        cell: ({ counts }) => counts.started.toLocaleString('en-GB'),
      },
      {
        name: 'refused',
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
    <Field label={label}>
      {(wiring) => (
        <select {...wiring} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          <option value="">any</option>
          {choices.map((one) => (
            <option key={one} value={one} selected={one === value}>
              {words[one] ?? one}
            </option>
          ))}
        </select>
      )}
    </Field>
  </div>
);
