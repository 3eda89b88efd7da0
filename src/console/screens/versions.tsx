/** The versions of a workflow: who changed what and why; two of them side by side, as text and as steps. */
import { useState } from 'preact/hooks';
import { at, post } from '../data/api.ts';
import { comparedTexts, definitionsOf, triggersChanged, type Version } from '../data/compared.ts';
import { usePages } from '../data/pages.ts';
import { partsOf } from '../data/parts-changed.ts';
import { useGet, useResource } from '../data/resource.ts';
import type { VersionDifference, WorkflowChange, WorkflowHead } from '../data/types.ts';
import { changeQuery } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/fields.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Loaded } from '../parts/loading.tsx';
import { Listed } from '../parts/more.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { Place } from '../routes.ts';
import { ChangedParts, GraphCard, marksOf, SideBySide, WorkflowFrame } from './workflow-parts.tsx';

const PAGE = 50;

const SOURCES: { readonly [source in WorkflowChange['source']]: string } = {
  update: 'stored',
  sync: 'synced',
  proposal_apply: 'a proposal',
  rollback: 'restored',
  system: 'the system',
};

/** A change names a version and its text: only the text may differ between two of them. */
const idOf = ({ hash, textHash }: WorkflowChange): string =>
  [hash, textHash].flatMap((one) => one?.slice(7) ?? []).join('.');

export function VersionsScreen({ place }: { readonly place: Place<'versions'> }) {
  const { slug } = place.params;
  const history = usePages<WorkflowChange>(at`/api/workflows/${slug}/history`, { limit: PAGE });
  const { items } = history;
  const [restored, setRestored] = useState<WorkflowChange>();
  const to = place.query['to'] ?? (items[0] === undefined ? undefined : idOf(items[0]));
  const from = place.query['from'] ?? (items[1] === undefined ? undefined : idOf(items[1]));
  const choice = (side: 'from' | 'to', chosen: string | undefined) => (change: WorkflowChange) => (
    <input
      type="radio"
      name={side}
      checked={idOf(change) === chosen}
      aria-label={`${side === 'from' ? 'Before' : 'After'}: ${change.version} of ${change.createdAt}`}
      onChange={() => changeQuery({ [side]: idOf(change) })}
    />
  );
  return (
    <WorkflowFrame slug={slug} title={slug} tab="versions">
      <Listed list={history} what="the versions" empty={<p>The workflow has no versions.</p>}>
        {() => (
          <Table
            label="Versions"
            rows={items}
            keyOf={(change) => `${idOf(change)} ${change.createdAt}`}
            columns={[
              { label: 'Before', cell: choice('from', from) },
              { label: 'After', cell: choice('to', to) },
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
                  createdBy === undefined ? SOURCES[source] : `${createdBy} (${SOURCES[source]})`,
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
      </Listed>
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
              history.first.again();
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

const versionOf = (id: string): Version => {
  const [hash = '', text] = id.split('.');
  return { hash, text };
};

/** Two versions: what differs as steps, in the graph of the later one, and as text. */
function Differences({ slug, from, to }: DifferencesProps) {
  const [selected, setSelected] = useState<string>();
  const versions = [versionOf(from), versionOf(to)] as const;
  const query = { from: versions[0].hash, to: versions[1].hash };
  const difference = useGet<VersionDifference>(at`/api/workflows/${slug}/diff`, { query });
  const texts = useResource(`texts ${slug} ${from} ${to}`, (signal) => comparedTexts(slug, versions, signal));
  return (
    <>
      <h2>What differs</h2>
      <Loaded resource={difference} what="what differs">
        {({ changes, to: hash }) => {
          const parts = partsOf(changes);
          return (
            <>
              {parts.length === 0 ? (
                <p class="dim">Nothing that a run does.</p>
              ) : (
                <ChangedParts parts={parts} onSelect={setSelected} />
              )}
              {parts.some(({ isStep }) => isStep) ? (
                <GraphCard slug={slug} hash={hash} marks={marksOf(parts)} selected={selected} onSelect={setSelected} />
              ) : null}
            </>
          );
        }}
      </Loaded>
      <SideBySide resource={texts} names={['Before', 'After']} />
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
    triggersChanged(...(await definitionsOf(slug, [current, change.hash], signal))),
  );
  const restore = async (): Promise<void> => {
    const body = { workflowHash: change.hash, notes: notes || undefined };
    const head = await post<WorkflowHead>(at`/api/workflows/${slug}/rollback`, body);
    announce(`Restored as ${head.version}.`);
  };
  return (
    <FormDialog title={`Restore ${change.version}?`} save={restore} saveLabel="Restore" onClose={onClose}>
      <p>It becomes the current version, under a new number. Runs that are active keep the version that they have.</p>
      <Loaded resource={triggers} what="what happens to its triggers">
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
      </Loaded>
      <TextField label="Why" value={notes} onValue={setNotes} />
    </FormDialog>
  );
}
