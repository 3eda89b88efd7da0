/** What the screens of one workflow share: its head with links, its graph, and the list of what differs. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { at, get } from '../data/api.ts';
import type { ChangedPart } from '../data/parts-changed.ts';
import { useResource } from '../data/resource.ts';
import type { WorkflowGraph } from '../data/types.ts';
import { clampZoom, fittingZoom, GraphView, useDrawing } from '../graph/graph.tsx';
import { MARGIN } from '../graph/layout.ts';
import type { GraphInput } from '../graph/ways.ts';
import { hasScreen } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { To } from '../parts/link.tsx';
import { Loaded, LoadingLine } from '../parts/loading.tsx';
import { pixels } from '../parts/pixels.ts';
import { Screen } from '../parts/screen.tsx';
import type { Query, RouteName } from '../routes.ts';
import type { DiffProps } from './diff.tsx';
import '../style/graph.css';
import '../style/people.css';

export type WorkflowTab = 'overview' | 'versions' | 'proposals' | 'settings';

interface FrameProps {
  readonly slug: string;
  readonly title: string;
  readonly tab: WorkflowTab;
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

const TABS: readonly { readonly tab: WorkflowTab | 'runs'; readonly text: string; readonly to: RouteName }[] = [
  { tab: 'overview', text: 'Overview', to: 'workflow' },
  { tab: 'runs', text: 'Runs', to: 'runs' },
  { tab: 'versions', text: 'Versions', to: 'versions' },
  { tab: 'proposals', text: 'Proposals', to: 'workflow' },
  { tab: 'settings', text: 'Settings', to: 'workflow' },
];

/** The head of a workflow: its name, what can be done, and links to its parts. */
export const WorkflowFrame = ({ slug, title, tab, beside, children }: FrameProps) => (
  <div class="workflow">
    <Screen
      title={title}
      beside={beside}
      actions={
        <>
          {hasScreen('editor') ? (
            <To to="editor" params={{ slug }} class="button">
              Edit
            </To>
          ) : null}
          <To to="runForm" params={{ slug }} class="button primary">
            Run
          </To>
        </>
      }
    >
      <nav class="tabs" aria-label="Parts of the workflow">
        {TABS.map(({ tab: one, text, to }) => (
          <To
            key={one}
            to={to as 'workflow'}
            params={(to === 'runs' ? {} : { slug }) as { slug: string }}
            query={queryOf(one, slug)}
            isCurrent={one === tab}
          >
            {text}
          </To>
        ))}
      </nav>
      {children}
    </Screen>
  </div>
);

function queryOf(tab: WorkflowTab | 'runs', slug: string): Query | undefined {
  if (tab === 'runs') return { workflowId: slug };
  return tab === 'proposals' || tab === 'settings' ? { tab } : undefined;
}

interface GraphCardProps {
  readonly slug: string;
  readonly hash: string | undefined;
  readonly marks?: ReadonlyMap<string, string>;
  readonly selected: string | undefined;
  readonly onSelect: (slug: string) => void;
}

/** The graph of a version. */
export function GraphCard({ slug, hash, ...rest }: GraphCardProps) {
  const graph = useResource(`graph ${slug} ${hash ?? ''}`, (signal) =>
    get<WorkflowGraph>(at`/api/workflows/${slug}/graph`, { query: { hash }, signal }),
  );
  return (
    <Loaded resource={graph} what="the graph">
      {(drawn) => <Drawn key={drawn.hash} graph={drawn} label={`Steps of ${slug}`} {...rest} />}
    </Loaded>
  );
}

const MOST_HEIGHT = 460;
const SCROLLBAR = 20;

type DrawnProps = Omit<GraphCardProps, 'slug' | 'hash'> & { readonly graph: GraphInput; readonly label: string };

function Drawn({ graph, label, marks, selected, onSelect }: DrawnProps) {
  const drawing = useDrawing(graph);
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const height = (drawing.layout.height + 2 * MARGIN) * zoom + SCROLLBAR;
  useEffect(() => {
    if (box.current !== null) setZoom(fittingZoom(drawing.layout.width, box.current.clientWidth));
  }, [drawing]);
  return (
    <div class="graph-card">
      <div class="graph-box" ref={box} style={pixels({ height: Math.min(MOST_HEIGHT, height) })}>
        <GraphView
          graph={graph}
          drawing={drawing}
          label={label}
          selected={selected}
          onSelect={onSelect}
          zoom={zoom}
          onZoom={setZoom}
          {...(marks === undefined ? {} : { marks })}
        />
      </div>
      <div class="graph-tools">
        <Button kind="quiet" label="Smaller" onClick={() => setZoom(clampZoom(zoom / 1.2))}>
          −
        </Button>
        <Button kind="quiet" label="Larger" onClick={() => setZoom(clampZoom(zoom * 1.2))}>
          +
        </Button>
      </div>
    </div>
  );
}

type Diff = typeof import('./diff.tsx').SideBySide;

/** Two texts side by side. The code that compares them is loaded when there is something to compare. */
export function SideBySide(props: DiffProps) {
  const [loaded, setLoaded] = useState<{ readonly show: Diff }>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    import('./diff.tsx').then(
      ({ SideBySide: show }) => setLoaded({ show }),
      () => setFailed(true),
    );
  }, []);
  if (hasFailed) return <p class="notice">The comparison could not be loaded. Load the page again.</p>;
  return loaded === undefined ? <LoadingLine what="the comparison" /> : <loaded.show {...props} />;
}

const WORDS = { added: 'new', removed: 'removed', changed: 'changed' } as const;

/** The steps and other parts that differ. Choosing a step shows it in the graph. */
export const ChangedParts = ({
  parts,
  onSelect,
}: {
  readonly parts: readonly ChangedPart[];
  readonly onSelect?: (slug: string) => void;
}) => (
  <ul class="steps-changed" aria-label="What differs">
    {parts.map(({ name, isStep, kind, members }) => (
      <li key={`${isStep} ${name}`} class={kind}>
        {isStep && kind !== 'removed' && onSelect !== undefined ? (
          <Button kind="link" onClick={() => onSelect(name)}>
            {name}
          </Button>
        ) : (
          <code>{name}</code>
        )}{' '}
        {WORDS[kind]}
        {members.length === 0 ? '' : `: ${members.join(', ')}`}
      </li>
    ))}
  </ul>
);

/** Marks of changed steps in the graph. */
export const marksOf = (parts: readonly ChangedPart[]): ReadonlyMap<string, string> =>
  new Map(parts.filter(({ isStep }) => isStep).map(({ name, kind }) => [name, `mark-${kind}`]));
