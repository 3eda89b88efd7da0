/** The workflows that are stored. */
import { useState } from 'preact/hooks';
import { at, get } from '../data/api.ts';
import { useAction, useResource } from '../data/resource.ts';
import type { WorkflowHead, WorkflowPage } from '../data/types.ts';
import { changeQuery } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { SelectField, TextField } from '../parts/fields.tsx';
import { To } from '../parts/link.tsx';
import { Empty, Loaded } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { Place } from '../routes.ts';
import '../style/people.css';

const PAGE = 100;

const COLUMNS: readonly Column<WorkflowHead>[] = [
  {
    name: 'name',
    label: 'Workflow',
    cell: ({ slug, name }) => (
      <>
        <To to="workflow" params={{ slug }}>
          {name}
        </To>{' '}
        <code class="dim">{slug}</code>
      </>
    ),
  },
  { name: 'enabled', label: 'State', cell: ({ enabled }) => (enabled ? 'enabled' : <strong>disabled</strong>) },
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
  const key = `workflows ${tag ?? ''} ${enabled ?? ''}`;
  const list = useResource(key, (signal) => get<WorkflowPage>(at`/api/workflows`, { query, signal }));
  const [more, setMore] = useState<{ readonly key: string; readonly page: WorkflowPage }>();
  const older = more?.key === key ? more.page : undefined;
  const cursor = (older ?? list.data)?.nextCursor;
  const next = useAction(async () => {
    const page = await get<WorkflowPage>(at`/api/workflows`, { query: { ...query, cursor } });
    setMore({ key, page: { ...page, items: [...(older?.items ?? []), ...page.items] } });
  });
  const all = [...(list.data?.items ?? []), ...(older?.items ?? [])];
  const wanted = search.toLowerCase();
  const rows = all.filter(({ slug, name }) => `${slug} ${name}`.toLowerCase().includes(wanted));
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
      <Loaded resource={list} what="the workflows">
        {() =>
          rows.length === 0 ? (
            <Empty>
              <p>
                {all.length === 0 && tag === undefined && enabled === undefined
                  ? 'No workflow is stored yet. Store one from a file:'
                  : 'No workflow fits.'}
              </p>
              {all.length === 0 ? <pre class="block">npx signalbox push FILE.yaml</pre> : null}
            </Empty>
          ) : (
            <Table label="The workflows" columns={COLUMNS} rows={rows} keyOf={({ slug }) => slug} />
          )
        }
      </Loaded>
      <Problem problem={next.problem} />
      {cursor === undefined ? null : (
        <div>
          <Button onClick={() => void next.run()} isBusy={next.isRunning}>
            More
          </Button>
        </div>
      )}
    </Screen>
  );
}
