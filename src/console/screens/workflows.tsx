/** The workflows that are stored. */
import { usePages } from '../data/pages.ts';
import type { WorkflowHead } from '../data/types.ts';
import { changeQuery } from '../navigation.ts';
import { SelectField, TextField } from '../parts/fields.tsx';
import { ScreenLink, WorkflowLink } from '../parts/link.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { RouteMatch } from '../routes.ts';
import '../style/people.css';

const PAGE_SIZE = 100;

const COLUMNS: readonly Column<WorkflowHead>[] = [
  {
    label: 'Workflow',
    isPlain: true,
    cell: ({ slug, name }) => (
      <>
        <WorkflowLink slug={slug}>{name}</WorkflowLink> <code class="dim">{slug}</code>
      </>
    ),
  },
  { label: 'State', isPlain: true, cell: ({ enabled }) => (enabled ? 'enabled' : <strong>disabled</strong>) },
  { label: 'Version', isExtra: true, cell: ({ version }) => version },
  { label: 'Tags', isExtra: true, cell: ({ tags }) => tags.join(', ') },
  { label: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  {
    label: 'Start',
    cell: ({ slug, name }) => (
      <ScreenLink to="runForm" params={{ slug }}>
        Run<span class="hidden"> {name}</span>
      </ScreenLink>
    ),
  },
];

export function WorkflowsScreen({ route }: { readonly route: RouteMatch<'workflows'> }) {
  const { search = '', tag, enabled } = route.query;
  const query = { limit: PAGE_SIZE, tag, enabled };
  const list = usePages<WorkflowHead>('/api/workflows', query);
  const wanted = search.toLowerCase();
  const rows = list.items.filter(({ slug, name }) => `${slug} ${name}`.toLowerCase().includes(wanted));
  return (
    <Screen title="Workflows">
      <div class="filters">
        <TextField label="Search" value={search} onValue={(value) => changeQuery({ search: value })} />
        <TextField label="Tag" value={tag ?? ''} onValue={(value) => changeQuery({ tag: value })} />
        <SelectField
          label="State"
          value={enabled ?? ''}
          onValue={(value) => changeQuery({ enabled: value })}
          choices={[
            { value: '', label: 'All' },
            { value: 'true', label: 'Enabled' },
            { value: 'false', label: 'Disabled' },
          ]}
        />
      </div>
      <PagedList
        list={{ ...list, items: rows }}
        what="the workflows"
        empty={
          <>
            <p>
              {list.items.length === 0 && tag === undefined && enabled === undefined
                ? 'No workflow is stored yet. Store one from a file:'
                : 'No workflow fits.'}
            </p>
            {list.items.length === 0 ? <pre class="block">npx signalbox push FILE.yaml</pre> : null}
          </>
        }
      >
        {() => <Table label="The workflows" columns={COLUMNS} rows={rows} keyOf={({ slug }) => slug} />}
      </PagedList>
    </Screen>
  );
}
