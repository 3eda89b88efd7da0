/** The versions of a workflow: who changed what and why; two of them side by side, as text and as steps. */
import { useState } from 'preact/hooks';
import { at, get, post } from '../data/api.ts';
import { partsOf } from '../data/parts-changed.ts';
import { useAction, useResource } from '../data/resource.ts';
import type {
  VersionDifference,
  WorkflowChange,
  WorkflowChangePage,
  WorkflowHead,
  WorkflowText,
} from '../data/types.ts';
import { changeQuery } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { Actions, Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/fields.tsx';
import { Empty, Loaded } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
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
  const history = useResource(`history ${slug}`, (signal) =>
    get<WorkflowChangePage>(at`/api/workflows/${slug}/history`, { query: { limit: PAGE }, signal }),
  );
  const [restored, setRestored] = useState<WorkflowChange>();
  const items = history.data?.items ?? [];
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
      <Loaded resource={history} what="the versions">
        {() =>
          items.length === 0 ? (
            <Empty>
              <p>The workflow has no versions.</p>
            </Empty>
          ) : (
            <>
              <Table
                label="Versions"
                rows={items}
                keyOf={(change) => `${idOf(change)} ${change.createdAt}`}
                columns={[
                  { name: 'from', label: 'Before', cell: choice('from', from) },
                  { name: 'to', label: 'After', cell: choice('to', to) },
                  {
                    name: 'version',
                    label: 'Version',
                    cell: ({ version, hash }) => (
                      <>
                        {version} <code class="dim">{hash.slice(7, 15)}</code>
                      </>
                    ),
                  },
                  {
                    name: 'by',
                    label: 'By',
                    cell: ({ createdBy, source }) =>
                      `${createdBy ?? ''} ${createdBy === undefined ? SOURCES[source] : `(${SOURCES[source]})`}`,
                  },
                  { name: 'notes', label: 'Notes', isExtra: true, cell: ({ notes }) => notes ?? '' },
                  { name: 'at', label: 'Stored', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  {
                    name: 'restore',
                    label: <span class="hidden">Restore</span>,
                    isExtra: true,
                    cell: (change) =>
                      change.hash === items[0]?.hash ? (
                        <span class="dim">current</span>
                      ) : (
                        <Button needs="editor" onClick={() => setRestored(change)}>
                          Restore…
                        </Button>
                      ),
                  },
                ]}
              />
              {from === undefined || to === undefined ? null : (
                <Compared key={`${from} ${to}`} slug={slug} from={from} to={to} />
              )}
            </>
          )
        }
      </Loaded>
      {restored === undefined ? null : (
        <Restore
          slug={slug}
          change={restored}
          onClose={(isDone) => {
            setRestored(undefined);
            if (isDone) {
              changeQuery({ from: undefined, to: undefined });
              history.again();
            }
          }}
        />
      )}
    </WorkflowFrame>
  );
}

interface ComparedProps {
  readonly slug: string;
  readonly from: string;
  readonly to: string;
}

async function textOf(slug: string, id: string, signal: AbortSignal): Promise<WorkflowText> {
  const [hash, text] = id.split('.');
  return get<WorkflowText>(at`/api/workflows/${slug}/text`, { query: { hash, text }, signal });
}

/** Two versions: what differs as steps, in the graph of the later one, and as text. */
function Compared({ slug, from, to }: ComparedProps) {
  const [selected, setSelected] = useState<string>();
  const both = useResource(`compared ${slug} ${from} ${to}`, async (signal) => {
    const hashes = { from: from.split('.')[0] ?? '', to: to.split('.')[0] ?? '' };
    const [before, after, difference] = await Promise.all([
      textOf(slug, from, signal),
      textOf(slug, to, signal),
      get<VersionDifference>(at`/api/workflows/${slug}/diff`, { query: hashes, signal }),
    ]);
    return { before, after, difference };
  });
  return (
    <Loaded resource={both} what="what differs">
      {({ before, after, difference }) => {
        const parts = partsOf(difference.changes);
        return (
          <>
            <h2>What differs</h2>
            {parts.length === 0 ? (
              <p class="dim">Nothing that a run does: only the text differs.</p>
            ) : (
              <ChangedParts parts={parts} onSelect={setSelected} />
            )}
            {parts.some(({ isStep }) => isStep) ? (
              <GraphCard
                slug={slug}
                hash={after.hash}
                marks={marksOf(parts)}
                selected={selected}
                onSelect={setSelected}
              />
            ) : null}
            {before.media === after.media && (before.textHash === undefined) === (after.textHash === undefined) ? (
              <SideBySide label="Both texts" before={before.text} after={after.text} />
            ) : (
              <>
                <p class="dim">Only one of them has a text of its author, so both are shown in the canonical form.</p>
                <SideBySide label="Both definitions" unified={difference.diffText} />
              </>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

interface RestoreProps {
  readonly slug: string;
  readonly change: WorkflowChange;
  readonly onClose: (isDone: boolean) => void;
}

function Restore({ slug, change, onClose }: RestoreProps) {
  const [notes, setNotes] = useState('');
  const restore = useAction(async () => {
    const head = await post<WorkflowHead>(at`/api/workflows/${slug}/rollback`, {
      workflowHash: change.hash,
      ...(notes === '' ? {} : { notes }),
    });
    announce(`Restored as ${head.version}.`);
  });
  return (
    <Dialog title={`Restore ${change.version}?`} onClose={() => onClose(false)}>
      <p>It becomes the current version, under a new number. Runs that are active keep the version that they have.</p>
      <TextField label="Why" value={notes} onValue={setNotes} />
      <Problem problem={restore.problem} />
      <Actions>
        <Button onClick={() => onClose(false)}>Back</Button>
        <Button
          kind="primary"
          isBusy={restore.isRunning}
          onClick={() => void restore.run().then((isDone) => isDone && onClose(true))}
        >
          Restore
        </Button>
      </Actions>
    </Dialog>
  );
}
