/** The workflows that are stored. */
import { usePages } from '../data/pages.ts';
import type { WorkflowHead } from '../data/types.ts';
import { changeQuery } from '../navigation.ts';
import { SelectField, TextField } from '../parts/fields.tsx';
import { To } from '../parts/link.tsx';
import { Empty, Loaded } from '../parts/loading.tsx';
import { More } from '../parts/more.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { UnreadNotice } from '../parts/unread-notice.tsx';
import type { Place } from '../routes.ts';
import '../style/people.css';

const PAGE = 100;

const COLUMNS: readonly Column<WorkflowHead>[] = [
  {
    name: 'name',
    label: 'Workflow',
    isPlain: true,
    cell: ({ slug, name }) => (
      <>
        <To to="workflow" params={{ slug }}>
          {name}
        </To>{' '}
        <code class="dim">{slug}</code>
      </>
    ),
  },
  {
    name: 'enabled',
    label: 'State',
    isPlain: true,
    cell: ({ enabled }) => (enabled ? 'enabled' : <strong>disabled</strong>),
  },
  { name: 'version', label: 'Version', isExtra: true, cell: ({ version }) => version },
  { name: 'tags', label: 'Tags', isExtra: true, cell: ({ tags }) => tags.join(', ') },
  { name: 'updated', label: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  {
    name: 'run',
    label: 'Start',
    cell: ({ slug, name }) => (
      <To to="runForm" params={{ slug }}>
        Run<span class="hidden"> {name}</span>
      </To>
    ),
  },
];

export function WorkflowsScreen({ place }: { readonly place: Place<'workflows'> }) {
  const { search = '', tag, enabled } = place.query;
  const query = { limit: PAGE, tag, enabled };
  const list = usePages<WorkflowHead>('/api/workflows', query);
  const wanted = search.toLowerCase();
  const rows = list.items.filter(({ slug, name }) => `${slug} ${name}`.toLowerCase().includes(wanted));
  return (
    <Screen title="Workflows">
      <div class="filters">
        <TextField
          label="Search"
          value={search}
          onValue={(value) => changeQuery({ search: value === '' ? undefined : value })}
        />
        <TextField
          label="Tag"
          value={tag ?? ''}
          onValue={(value) => changeQuery({ tag: value === '' ? undefined : value })}
        />
        <SelectField
          label="State"
          value={enabled ?? ''}
          onValue={(value) => changeQuery({ enabled: value === '' ? undefined : value })}
          choices={[
            { value: '', label: 'All' },
            { value: 'true', label: 'Enabled' },
            { value: 'false', label: 'Disabled' },
          ]}
        />
      </div>
      <UnreadNotice rows={list.first.data?.unreadable} />
      <Loaded resource={list.first} what="the workflows">
        {() =>
          rows.length === 0 ? (
            <Empty>
              <p>
                {list.items.length === 0 && tag === undefined && enabled === undefined
                  ? 'No workflow is stored yet. Store one from a file:'
                  : 'No workflow fits.'}
              </p>
              {list.items.length === 0 ? <pre class="block">npx signalbox push FILE.yaml</pre> : null}
            </Empty>
          ) : (
            <Table label="The workflows" columns={COLUMNS} rows={rows} keyOf={({ slug }) => slug} />
          )
        }
      </Loaded>
      <More list={list} />
    </Screen>
  );
}
