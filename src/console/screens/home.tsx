import type { ComponentChildren } from 'preact';
import { messageOf, workflowNameOf } from '../data/questions.ts';
import { type Resource, useGet } from '../data/resource.ts';
import type { ApprovalPage, Execution, ExecutionPage, WorkflowPage } from '../data/types.ts';
import { ScreenLink } from '../parts/link.tsx';
import { EmptyState, ResourceView } from '../parts/loading.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { startedByColumn, startedColumn, statusColumn, waitOrErrorColumn, workflowColumn } from './run-columns.tsx';

const POLL_MS = 10_000;
const MAX_ITEMS = 5;
const LAST_RUNS = 10;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** The day begins at a full hour, so that every poll of an hour asks for the same. */
const HOUR_MS = 60 * 60 * 1_000;

/** Questions for the user, recent failures and the last runs; without runs, workflows to start. */
export function HomeScreen() {
  const since = new Date(Math.floor((Date.now() - DAY_MS) / HOUR_MS) * HOUR_MS).toISOString();
  const questions = useGet<ApprovalPage>('/api/approvals', { query: { limit: MAX_ITEMS }, pollMs: POLL_MS });
  const failed = useRuns({ limit: MAX_ITEMS, status: 'failed,aborted', 'started[gte]': since });
  const runs = useRuns({ limit: LAST_RUNS });
  const isFresh = runs.data !== undefined && runs.data.items.length === 0;
  const hasQuestions = (questions.data?.items.length ?? 0) > 0;
  return (
    <Screen title="Home">
      {isFresh ? <FirstRunSection /> : null}
      {hasQuestions ? <Questions questions={questions} /> : null}
      {failed.data !== undefined && failed.data.items.length > 0 ? (
        <HomeSection title="Failed within a day">
          <RunsTable label="Failed within a day" rows={failed.data.items} />
          <ScreenLink to="runs" query={{ status: 'failed,aborted' }}>
            All that failed
          </ScreenLink>
        </HomeSection>
      ) : null}
      <ResourceView resource={runs} what="the last runs">
        {({ items }) =>
          items.length === 0 ? null : (
            <HomeSection title="Last runs">
              <RunsTable label="Last runs" rows={items} />
              <ScreenLink to="runs">All runs</ScreenLink>
            </HomeSection>
          )
        }
      </ResourceView>
    </Screen>
  );
}

const useRuns = (query: { readonly [name: string]: string | number }): Resource<ExecutionPage> =>
  useGet('/api/executions', { query: { include: 'workflowName,error', ...query }, pollMs: POLL_MS });

interface HomeSectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

const HomeSection = ({ title, children }: HomeSectionProps) => (
  <div class="stack">
    <h2>{title}</h2>
    {children}
  </div>
);

const COLUMNS: readonly Column<Execution>[] = [
  statusColumn,
  workflowColumn,
  waitOrErrorColumn,
  startedColumn,
  startedByColumn,
];

const RunsTable = ({ label, rows }: { readonly label: string; readonly rows: readonly Execution[] }) => (
  <Table label={label} rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />
);

const Questions = ({ questions }: { readonly questions: Resource<ApprovalPage> }) => (
  <HomeSection title="Waits for you">
    <Table
      label="Waits for you"
      rows={questions.data?.items ?? []}
      keyOf={({ executionId, path }) => `${executionId} ${path}`}
      columns={[
        {
          label: 'Question',
          isPlain: true,
          cell: (question) => (
            <ScreenLink to="approval" params={{ executionId: question.executionId, path: question.path }}>
              {messageOf(question)}
            </ScreenLink>
          ),
        },
        { label: 'Workflow', isPlain: true, cell: workflowNameOf },
        { label: 'Since', cell: ({ since }) => <Time at={since} /> },
        { label: 'Until', isExtra: true, cell: ({ until }) => (until === undefined ? '' : <Time at={until} />) },
      ]}
    />
    <ScreenLink to="approvals">All that waits</ScreenLink>
  </HomeSection>
);

/** The stored workflows, each with a link to start it. */
function FirstRunSection() {
  const workflows = useGet<WorkflowPage>('/api/workflows', { query: { limit: MAX_ITEMS } });
  return (
    <HomeSection title="Start a first run">
      <ResourceView resource={workflows} what="the workflows">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState>
              <p>
                Workflows stand here once they are stored. <a href="/docs/examples">The manual has examples.</a>
              </p>
            </EmptyState>
          ) : (
            <div class="cards">
              {items.map(({ slug, name, description }) => (
                <div key={slug} class="card stack">
                  <h3>{name}</h3>
                  <p class="dim">{description ?? slug}</p>
                  <ScreenLink to="runForm" params={{ slug }} class="button primary">
                    Start<span class="hidden"> {name}</span>
                  </ScreenLink>
                </div>
              ))}
            </div>
          )
        }
      </ResourceView>
    </HomeSection>
  );
}
