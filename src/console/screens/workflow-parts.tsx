/** What the screens of one workflow share: its head with links, its graph, and the list of what differs. */
import type { ComponentChildren } from 'preact';
import { at } from '../data/api.ts';
import type { Compared } from '../data/compared.ts';
import type { ChangedPart } from '../data/parts-changed.ts';
import { type Resource, useGet, useResource } from '../data/resource.ts';
import type { WorkflowGraph } from '../data/types.ts';
import { GraphBox } from '../graph/zoom.tsx';
import { hasScreen } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { To } from '../parts/link.tsx';
import { Loaded } from '../parts/loading.tsx';
import { Screen } from '../parts/screen.tsx';
import type { Query, RouteName } from '../routes.ts';
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

const MOST_HEIGHT = 460;

/** The graph of a version. */
export function GraphCard({ slug, hash, ...rest }: GraphCardProps) {
  const graph = useGet<WorkflowGraph>(at`/api/workflows/${slug}/graph`, { query: { hash } });
  return (
    <Loaded resource={graph} what="the graph">
      {(drawn) => (
        <GraphBox
          key={drawn.hash}
          class="graph-card"
          mostHeight={MOST_HEIGHT}
          graph={drawn}
          label={`Steps of ${slug}`}
          {...rest}
        />
      )}
    </Loaded>
  );
}

interface SideBySideProps {
  readonly resource: Resource<Compared>;
  /** The versions, for screen readers and as headings. */
  readonly names: readonly [before: string, after: string];
}

/** Two texts side by side. The code that compares them is loaded when there is something to compare. */
export function SideBySide({ resource, names }: SideBySideProps) {
  const shown = useResource('comparison', () => import('../editor/diff.tsx'));
  return (
    <Loaded resource={resource} what="the texts">
      {({ before, after, isCanonical }) => (
        <>
          {isCanonical ? (
            <p class="dim">Only one of them has a text of its author, so both are shown in the canonical form.</p>
          ) : null}
          {before === after ? (
            <p class="dim">Both texts are the same.</p>
          ) : (
            <Loaded resource={shown} what="the comparison">
              {({ Diff }) => <Diff key={before} before={before} after={after} names={names} />}
            </Loaded>
          )}
        </>
      )}
    </Loaded>
  );
}

const WORDS = { added: 'new', removed: 'removed', changed: 'changed' } as const;

/** The steps and other parts that differ. Choosing a step shows it in the graph. */
export const ChangedParts = ({
  parts,
  onSelect,
}: {
  readonly parts: readonly ChangedPart[];
  readonly onSelect: (slug: string) => void;
}) => (
  <ul class="plain steps-changed" aria-label="What differs">
    {parts.map(({ name, isStep, kind, members }) => (
      <li key={`${isStep} ${name}`} class={kind}>
        {isStep && kind !== 'removed' ? (
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
