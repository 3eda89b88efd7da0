import { usePages } from '../data/pages.ts';
import type { Trigger } from '../data/types.ts';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { SelectField } from '../parts/fields.tsx';
import { ScreenLink, WorkflowLink } from '../parts/link.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Screen } from '../parts/screen.tsx';
import { EnabledBadge } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { queryText, type RouteMatch } from '../routes.ts';
import { triggerSourceText } from './trigger-text.ts';

const POLL_MS = 10_000;
const LIMIT = 200;
const TYPES = ['manual', 'webhook', 'schedule', 'event'] as const;

export function TriggersScreen({ route }: { readonly route: RouteMatch<'triggers'> }) {
  const { type, enabled, workflowId } = route.query;
  const filter = { type, enabled, workflowId };
  const list = usePages<Trigger>('/api/triggers', { ...filter, limit: LIMIT }, { pollMs: POLL_MS });
  const isFiltered = queryText(filter) !== '';
  return (
    <Screen
      title="Triggers"
      actions={
        <>
          <FilterSelect
            label="Type"
            value={type ?? ''}
            choices={TYPES}
            onValue={(value) => changeQuery({ type: value })}
          />
          <FilterSelect
            label="State"
            value={enabled ?? ''}
            choices={['true', 'false']}
            labels={{ true: 'enabled', false: 'disabled' }}
            onValue={(value) => changeQuery({ enabled: value })}
          />
        </>
      }
    >
      <PagedList
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
              <ScreenLink to="workflows">Workflows declare them</ScreenLink>
            </>
          )
        }
      >
        {(items) => <TriggerTable rows={items} />}
      </PagedList>
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
          <ScreenLink to="trigger" params={{ id }}>
            {name}
          </ScreenLink>
        ),
      },
      { label: 'Starts', cell: ({ workflowId }) => <WorkflowLink slug={workflowId} /> },
      {
        label: 'By',
        cell: (trigger) => (
          <>
            {trigger.type} <code class="dim">{triggerSourceText(trigger)}</code>
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

interface FilterSelectProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly labels?: { readonly [value: string]: string };
  readonly onValue: (value: string) => void;
}

const FilterSelect = ({ label, value, choices, labels = {}, onValue }: FilterSelectProps) => (
  <div class="inline-field">
    <SelectField
      label={label}
      value={value}
      onValue={onValue}
      choices={[{ value: '', label: 'any' }, ...choices.map((one) => ({ value: one, label: labels[one] ?? one }))]}
    />
  </div>
);
