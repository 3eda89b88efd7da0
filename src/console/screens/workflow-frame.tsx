/** The frame that the screens of one workflow share; its graph, and comparisons of versions. */
import type { ComponentChildren } from 'preact';
import { apiPath } from '../data/api.ts';
import type { ChangedPart } from '../data/changed-parts.ts';
import { type Resource, useGet, useResource } from '../data/resource.ts';
import type { WorkflowGraph } from '../data/types.ts';
import type { TextComparison } from '../data/version-comparison.ts';
import { GraphBox } from '../graph/zoom.tsx';
import { hasScreen } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { ScreenLink } from '../parts/link.tsx';
import { ResourceView } from '../parts/loading.tsx';
import { Screen } from '../parts/screen.tsx';
import type { Query, RouteName } from '../routes.ts';
import '../style/people.css';

export type WorkflowTab = 'overview' | 'versions' | 'proposals' | 'settings';

interface WorkflowFrameProps {
  readonly slug: string;
  readonly title: string;
  readonly tab: WorkflowTab;
  readonly headingExtra?: ComponentChildren;
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
export const WorkflowFrame = ({ slug, title, tab, headingExtra, children }: WorkflowFrameProps) => (
  <div class="workflow">
    <Screen
      title={title}
      headingExtra={headingExtra}
      actions={
        <>
          {hasScreen('editor') ? (
            <ScreenLink to="editor" params={{ slug }} class="button">
              Edit
            </ScreenLink>
          ) : null}
          <ScreenLink to="runForm" params={{ slug }} class="button primary">
            Run
          </ScreenLink>
        </>
      }
    >
      <nav class="tabs" aria-label="Parts of the workflow">
        {TABS.map(({ tab: one, text, to }) => (
          <ScreenLink
            key={one}
            to={to as 'workflow'}
            params={(to === 'runs' ? {} : { slug }) as { slug: string }}
            query={tabQuery(one, slug)}
            isCurrent={one === tab}
          >
            {text}
          </ScreenLink>
        ))}
      </nav>
      {children}
    </Screen>
  </div>
);

function tabQuery(tab: WorkflowTab | 'runs', slug: string): Query | undefined {
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

const MAX_HEIGHT = 460;

/** The graph of a version. */
export function GraphCard({ slug, hash, ...rest }: GraphCardProps) {
  const graph = useGet<WorkflowGraph>(apiPath`/api/workflows/${slug}/graph`, { query: { hash } });
  return (
    <ResourceView resource={graph} what="the graph">
      {(drawn) => (
        <GraphBox
          key={drawn.hash}
          class="graph-card"
          maxHeight={MAX_HEIGHT}
          graph={drawn}
          label={`Steps of ${slug}`}
          {...rest}
        />
      )}
    </ResourceView>
  );
}

interface TextDiffProps {
  readonly resource: Resource<TextComparison>;
  /** The versions, for screen readers and as headings. */
  readonly names: readonly [before: string, after: string];
}

/** A diff of two texts. Its code is loaded on demand. */
export function TextDiff({ resource, names }: TextDiffProps) {
  const shown = useResource('comparison', () => import('../editor/diff.tsx'));
  return (
    <ResourceView resource={resource} what="the texts">
      {({ before, after, isCanonical }) => (
        <>
          {isCanonical ? (
            <p class="dim">Only one of them has a text of its author, so both are shown in the canonical form.</p>
          ) : null}
          {before === after ? (
            <p class="dim">Both texts are the same.</p>
          ) : (
            <ResourceView resource={shown} what="the comparison">
              {({ Diff }) => <Diff key={before} before={before} after={after} names={names} />}
            </ResourceView>
          )}
        </>
      )}
    </ResourceView>
  );
}

const CHANGE_TEXTS = { added: 'new', removed: 'removed', changed: 'changed' } as const;

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
        {CHANGE_TEXTS[kind]}
        {members.length === 0 ? '' : `: ${members.join(', ')}`}
      </li>
    ))}
  </ul>
);

/** Marks of changed steps in the graph. */
export const changeMarks = (parts: readonly ChangedPart[]): ReadonlyMap<string, string> =>
  new Map(parts.filter(({ isStep }) => isStep).map(({ name, kind }) => [name, `mark-${kind}`]));
