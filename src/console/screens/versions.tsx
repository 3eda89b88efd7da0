/** The versions of a workflow: who changed what and why; two of them side by side, as text and as steps. */
import { useState } from 'preact/hooks';
import { apiPath, post } from '../data/api.ts';
import { changedParts } from '../data/changed-parts.ts';
import { usePages } from '../data/pages.ts';
import { useGet, useResource } from '../data/resource.ts';
import type { VersionDifference, WorkflowChange, WorkflowHead } from '../data/types.ts';
import { changedTriggers, loadDefinitions, loadTextComparison, type VersionRef } from '../data/version-comparison.ts';
import { changeQuery } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/fields.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { ResourceView } from '../parts/loading.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { RouteMatch } from '../routes.ts';
import { ChangedParts, changeMarks, GraphCard, TextDiff, WorkflowFrame } from './workflow-frame.tsx';

const PAGE_SIZE = 50;

const SOURCE_TEXTS: { readonly [source in WorkflowChange['source']]: string } = {
  update: 'stored',
  sync: 'synced',
  proposal_apply: 'a proposal',
  rollback: 'restored',
  system: 'the system',
};

/** A change names a version and its text: only the text may differ between two of them. */
const versionTextId = ({ hash, textHash }: WorkflowChange): string =>
  [hash, textHash].flatMap((one) => one?.slice(7) ?? []).join('.');

export function VersionsScreen({ route }: { readonly route: RouteMatch<'versions'> }) {
  const { slug } = route.params;
  const history = usePages<WorkflowChange>(apiPath`/api/workflows/${slug}/history`, { limit: PAGE_SIZE });
  const { items } = history;
  const [restored, setRestored] = useState<WorkflowChange>();
  const to = route.query['to'] ?? (items[0] === undefined ? undefined : versionTextId(items[0]));
  const from = route.query['from'] ?? (items[1] === undefined ? undefined : versionTextId(items[1]));
  const radioCell = (side: 'from' | 'to', chosen: string | undefined) => (change: WorkflowChange) => (
    <input
      type="radio"
      name={side}
      checked={versionTextId(change) === chosen}
      aria-label={`${side === 'from' ? 'Before' : 'After'}: ${change.version} of ${change.createdAt}`}
      onChange={() => changeQuery({ [side]: versionTextId(change) })}
    />
  );
  return (
    <WorkflowFrame slug={slug} title={slug} tab="versions">
      <PagedList list={history} what="the versions" empty={<p>The workflow has no versions.</p>}>
        {() => (
          <Table
            label="Versions"
            rows={items}
            keyOf={(change) => `${versionTextId(change)} ${change.createdAt}`}
            columns={[
              { label: 'Before', cell: radioCell('from', from) },
              { label: 'After', cell: radioCell('to', to) },
              {
                label: 'Version',
                isPlain: true,
                cell: ({ version, hash }) => (
                  <>
                    {version} <code class="dim">{hash.slice(7, 15)}</code>
                  </>
                ),
              },
              {
                label: 'By',
                cell: ({ createdBy, source }) =>
                  createdBy === undefined ? SOURCE_TEXTS[source] : `${createdBy} (${SOURCE_TEXTS[source]})`,
              },
              { label: 'Notes', cell: ({ notes }) => notes ?? '' },
              { label: 'Stored', cell: ({ createdAt }) => <Time at={createdAt} /> },
              {
                label: <span class="hidden">Restore</span>,
                cell: (change) =>
                  change === items[0] ? (
                    <span class="dim">current</span>
                  ) : change.hash === items[0]?.hash ? (
                    <span class="dim">same as current</span>
                  ) : (
                    <Button needs="editor" onClick={() => setRestored(change)}>
                      Restore…
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </PagedList>
      {items.length === 0 || from === undefined || to === undefined ? null : (
        <Differences key={`${from} ${to}`} slug={slug} from={from} to={to} />
      )}
      {restored === undefined ? null : (
        <Restore
          slug={slug}
          change={restored}
          current={items[0]?.hash ?? restored.hash}
          onClose={(isDone) => {
            setRestored(undefined);
            if (isDone) {
              changeQuery({ from: undefined, to: undefined });
              history.first.reload();
            }
          }}
        />
      )}
    </WorkflowFrame>
  );
}

interface DifferencesProps {
  readonly slug: string;
  readonly from: string;
  readonly to: string;
}

const versionOf = (id: string): VersionRef => {
  const [hash = '', text] = id.split('.');
  return { hash, text };
};

/** Two versions: what differs as steps, in the graph of the later one, and as text. */
function Differences({ slug, from, to }: DifferencesProps) {
  const [selected, setSelected] = useState<string>();
  const versions = [versionOf(from), versionOf(to)] as const;
  const query = { from: versions[0].hash, to: versions[1].hash };
  const difference = useGet<VersionDifference>(apiPath`/api/workflows/${slug}/diff`, { query });
  const texts = useResource(`texts ${slug} ${from} ${to}`, (signal) => loadTextComparison(slug, versions, signal));
  return (
    <>
      <h2>What differs</h2>
      <ResourceView resource={difference} what="what differs">
        {({ changes, to: hash }) => {
          const parts = changedParts(changes);
          return (
            <>
              {parts.length === 0 ? (
                <p class="dim">Nothing that a run does.</p>
              ) : (
                <ChangedParts parts={parts} onSelect={setSelected} />
              )}
              {parts.some(({ isStep }) => isStep) ? (
                <GraphCard
                  slug={slug}
                  hash={hash}
                  marks={changeMarks(parts)}
                  selected={selected}
                  onSelect={setSelected}
                />
              ) : null}
            </>
          );
        }}
      </ResourceView>
      <TextDiff resource={texts} names={['Before', 'After']} />
    </>
  );
}

interface RestoreProps {
  readonly slug: string;
  readonly change: WorkflowChange;
  /** The hash of the current version. */
  readonly current: string;
  readonly onClose: (isDone: boolean) => void;
}

function Restore({ slug, change, current, onClose }: RestoreProps) {
  const [notes, setNotes] = useState('');
  const triggers = useResource(`triggers ${slug} ${current} ${change.hash}`, async (signal) =>
    changedTriggers(...(await loadDefinitions(slug, [current, change.hash], signal))),
  );
  const restore = async (): Promise<void> => {
    const body = { workflowHash: change.hash, notes: notes || undefined };
    const head = await post<WorkflowHead>(apiPath`/api/workflows/${slug}/rollback`, body);
    announce(`Restored as ${head.version}.`);
  };
  return (
    <FormDialog title={`Restore ${change.version}?`} save={restore} saveLabel="Restore" onClose={onClose}>
      <p>It becomes the current version, under a new number. Runs that are active keep the version that they have.</p>
      <ResourceView resource={triggers} what="what happens to its triggers">
        {({ removed, added }) => (
          <>
            {removed.length === 0 ? null : (
              <p class="notice" role="note">
                It lacks triggers of the current version. These are deleted: {removed.join(', ')}. What they receive
                starts no runs any more.
              </p>
            )}
            {added.length === 0 ? null : <p>These triggers are made again: {added.join(', ')}.</p>}
          </>
        )}
      </ResourceView>
      <TextField label="Why" value={notes} onValue={setNotes} />
    </FormDialog>
  );
}
