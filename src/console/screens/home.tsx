import type { ComponentChildren } from 'preact';
import { messageOf, workflowNameOf } from '../data/questions.ts';
import { type Resource, useGet } from '../data/resource.ts';
import type { ApprovalPage, Execution, ExecutionPage, WorkflowPage } from '../data/types.ts';
import { To } from '../parts/link.tsx';
import { Empty, Loaded } from '../parts/loading.tsx';
import { Screen } from '../parts/screen.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { byColumn, startedColumn, statusColumn, whyColumn, workflowColumn } from './run-columns.tsx';

const POLL_MS = 10_000;
const MOST = 5;
const LAST_RUNS = 10;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** The day begins at a full hour, so that every poll of an hour asks for the same. */
const HOUR_MS = 60 * 60 * 1_000;

/** What waits for me, what failed within a day, and the last runs; in a fresh store, what can be started. */
export function HomeScreen() {
  const since = new Date(Math.floor((Date.now() - DAY_MS) / HOUR_MS) * HOUR_MS).toISOString();
  const questions = useGet<ApprovalPage>('/api/approvals', { query: { limit: MOST }, pollMs: POLL_MS });
  const failed = useRuns({ limit: MOST, status: 'failed,aborted', 'started[gte]': since });
  const runs = useRuns({ limit: LAST_RUNS });
  const isFresh = runs.data !== undefined && runs.data.items.length === 0;
  const hasQuestions = (questions.data?.items.length ?? 0) > 0;
  return (
    <Screen title="Home">
      {isFresh ? <Start /> : null}
      {hasQuestions ? <Questions questions={questions} /> : null}
      {failed.data !== undefined && failed.data.items.length > 0 ? (
        <Part title="Failed within a day">
          <Runs label="Failed within a day" rows={failed.data.items} />
          <To to="runs" query={{ status: 'failed,aborted' }}>
            All that failed
          </To>
        </Part>
      ) : null}
      <Loaded resource={runs} what="the last runs">
        {({ items }) =>
          items.length === 0 ? null : (
            <Part title="Last runs">
              <Runs label="Last runs" rows={items} />
              <To to="runs">All runs</To>
            </Part>
          )
        }
      </Loaded>
    </Screen>
  );
}

const useRuns = (query: { readonly [name: string]: string | number }): Resource<ExecutionPage> =>
  useGet('/api/executions', { query: { include: 'workflowName,error', ...query }, pollMs: POLL_MS });

interface PartProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

const Part = ({ title, children }: PartProps) => (
  <div class="stack">
    <h2>{title}</h2>
    {children}
  </div>
);

const COLUMNS: readonly Column<Execution>[] = [statusColumn, workflowColumn, whyColumn, startedColumn, byColumn];

const Runs = ({ label, rows }: { readonly label: string; readonly rows: readonly Execution[] }) => (
  <Table label={label} rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />
);

const Questions = ({ questions }: { readonly questions: Resource<ApprovalPage> }) => (
  <Part title="Waits for you">
    <Table
      label="Waits for you"
      rows={questions.data?.items ?? []}
      keyOf={({ executionId, path }) => `${executionId} ${path}`}
      columns={[
        {
          label: 'Question',
          isPlain: true,
          cell: (question) => (
            <To to="approval" params={{ executionId: question.executionId, path: question.path }}>
              {messageOf(question)}
            </To>
          ),
        },
        { label: 'Workflow', isPlain: true, cell: workflowNameOf },
        { label: 'Since', cell: ({ since }) => <Time at={since} /> },
        { label: 'Until', isExtra: true, cell: ({ until }) => (until === undefined ? '' : <Time at={until} />) },
      ]}
    />
    <To to="approvals">All that waits</To>
  </Part>
);

/** The workflows that are there, each with a way to start it. */
function Start() {
  const workflows = useGet<WorkflowPage>('/api/workflows', { query: { limit: MOST } });
  return (
    <Part title="Start a first run">
      <Loaded resource={workflows} what="the workflows">
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              <p>
                Workflows stand here once they are stored. <a href="/docs/examples">The manual has examples.</a>
              </p>
            </Empty>
          ) : (
            <div class="cards">
              {items.map(({ slug, name, description }) => (
                <div key={slug} class="card stack">
                  <h3>{name}</h3>
                  <p class="dim">{description ?? slug}</p>
                  <To to="runForm" params={{ slug }} class="button primary">
                    Start<span class="hidden"> {name}</span>
                  </To>
                </div>
              ))}
            </div>
          )
        }
      </Loaded>
    </Part>
  );
}
