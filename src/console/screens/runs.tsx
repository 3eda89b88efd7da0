import { useEffect, useRef, useState } from 'preact/hooks';
import { countText } from '../data/format-text.ts';
import type { Execution, ExecutionCounts } from '../data/types.ts';
import { changeQuery, hasScreen, navigate, previousScreenPath } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { Form } from '../parts/fields.tsx';
import { Icon } from '../parts/icons.tsx';
import { EmptyState, LoadingLine } from '../parts/loading.tsx';
import { LoadMore } from '../parts/paged-list.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { useShortcuts } from '../parts/shortcuts.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { addressOf, queryText, type RouteMatch } from '../routes.ts';
import {
  durationColumn,
  startedByColumn,
  startedColumn,
  statusColumn,
  versionColumn,
  waitOrErrorColumn,
  workflowColumn,
} from './run-columns.tsx';
import { BulkBar, type ChosenRuns } from './runs-bulk.tsx';
import { useRunCounts, useRunList } from './runs-data.ts';
import { FilterDialog, ViewsDialog } from './runs-dialogs.tsx';
import { chipsOf, clearedFilters, statusOf, TABS, type TabName, tabOf } from './runs-filter.ts';
import './runs.css';

export function RunsScreen({ route }: { readonly route: RouteMatch<'runs'> }) {
  const { query } = route;
  const list = useRunList(query);
  const counts = useRunCounts(query);
  const [chosen, setChosen] = useState<ChosenRuns>(new Map());
  const [current, setCurrent] = useState<string>();
  const [dialog, setDialog] = useState<'filter' | 'views'>();
  const { items: rows } = list;

  // Other filters are another list.
  const key = queryText(query);
  useEffect(() => {
    setChosen(new Map());
    setCurrent(rows.find(({ id }) => addressOf('run', { id }) === previousScreenPath())?.id);
  }, [key]);
  useEffect(() => {
    if (list.unseen > 0) announce(`${countText(list.unseen, 'new run')}.`);
  }, [list.unseen]);

  const showUnseen = (): void => {
    list.showUnseen();
    scrollTo(0, 0);
  };
  const choose = (run: Execution): void => {
    const next = new Map(chosen);
    if (!next.delete(run.id)) next.set(run.id, run);
    setChosen(next);
  };
  const moveCurrent = (offset: 1 | -1): void => {
    const at = rows.findIndex(({ id }) => id === current);
    const next =
      rows[at === -1 ? (offset === 1 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + offset))];
    if (next === undefined) return;
    setCurrent(next.id);
    document.querySelector(`[data-key="${CSS.escape(next.id)}"]`)?.scrollIntoView({ block: 'nearest' });
    announce(`${next.workflowId}, ${next.status}`);
  };
  const currentRun = rows.find(({ id }) => id === current);
  const search = useRef<HTMLInputElement>(null);
  useShortcuts([
    { key: 'j', label: 'Next run', run: () => moveCurrent(1) },
    { key: 'k', label: 'Previous run', run: () => moveCurrent(-1) },
    {
      key: 'Enter',
      label: 'Open the run',
      run: () => {
        if (currentRun !== undefined && hasScreen('run')) navigate(addressOf('run', { id: currentRun.id }));
      },
    },
    { key: 'x', label: 'Choose the run', run: () => currentRun !== undefined && choose(currentRun) },
    { key: '/', label: 'Search by workflow or id', run: () => search.current?.focus() },
  ]);

  const columns = [
    choiceColumn(rows, chosen, choose, setChosen),
    statusColumn,
    workflowColumn,
    versionColumn,
    waitOrErrorColumn,
    startedColumn,
    durationColumn,
    startedByColumn,
  ];
  const isEmpty = rows.length === 0 && list.first.isCurrent;
  return (
    <Screen
      title="Runs"
      actions={
        <>
          <Search input={search} />
          <Button onClick={() => setDialog('filter')}>Filter</Button>
          <Button onClick={() => setDialog('views')}>Views</Button>
        </>
      }
    >
      <StatusTabs counts={counts} selected={tabOf(query)} />
      <Chips query={query} />
      <Problem problem={list.first.problem} onRetry={list.first.reload} />
      {list.first.isSlow && !list.first.isCurrent ? <LoadingLine what="the runs" /> : null}
      {list.unseen === 0 ? null : (
        <Button kind="quiet" class="unseen" onClick={showUnseen}>
          {list.unseen} new
        </Button>
      )}
      <BulkBar chosen={chosen} query={query} clear={() => setChosen(new Map())} done={list.first.reload} />
      {isEmpty ? (
        <NoRuns isFiltered={chipsOf(query).length > 0 || tabOf(query) !== 'all'} query={query} />
      ) : rows.length === 0 ? null : (
        <Table label="Runs" columns={columns} rows={rows} keyOf={({ id }) => id} current={current} />
      )}
      <LoadMore list={list} />
      {dialog === 'filter' ? <FilterDialog query={query} onClose={() => setDialog(undefined)} /> : null}
      {dialog === 'views' ? <ViewsDialog query={query} onClose={() => setDialog(undefined)} /> : null}
    </Screen>
  );
}

function choiceColumn(
  rows: readonly Execution[],
  chosen: ChosenRuns,
  choose: (run: Execution) => void,
  setChosen: (chosen: ChosenRuns) => void,
): Column<Execution> {
  const isAllChosen = rows.length > 0 && rows.every(({ id }) => chosen.has(id));
  return {
    label: (
      <input
        type="checkbox"
        aria-label="Choose all that are shown"
        checked={isAllChosen}
        onChange={() => setChosen(isAllChosen ? new Map() : new Map(rows.map((run) => [run.id, run])))}
      />
    ),
    cell: (run) => (
      <input
        type="checkbox"
        aria-label={`Choose ${run.workflowId} ${run.id.slice(-8)}`}
        checked={chosen.has(run.id)}
        onChange={() => choose(run)}
      />
    ),
  };
}

const countOfTab = (counts: ExecutionCounts, tab: (typeof TABS)[number]): number => {
  const wanted: readonly string[] = tab.statuses;
  return Object.entries(counts.statuses).reduce(
    (sum, [status, count]) => (wanted.length === 0 || wanted.includes(status) ? sum + count : sum),
    0,
  );
};

interface StatusTabsProps {
  readonly counts: ExecutionCounts | undefined;
  readonly selected: TabName | undefined;
}

/** Links, since each is an address. */
const StatusTabs = ({ counts, selected }: StatusTabsProps) => (
  <nav class="tabs" aria-label="Status">
    {TABS.map((tab) => (
      <a
        key={tab.name}
        href={addressOf('runs', {}, { status: statusOf(tab.name) })}
        aria-current={tab.name === selected ? 'page' : undefined}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          // The other filters stay.
          event.preventDefault();
          changeQuery({ status: statusOf(tab.name) }, { replace: false });
        }}
      >
        {tab.label}
        {counts === undefined ? null : (
          <span class="number">
            {' '}
            {counts.isApproximate === true ? '≈' : ''}
            {countOfTab(counts, tab).toLocaleString('en-GB')}
          </span>
        )}
      </a>
    ))}
  </nav>
);

function Chips({ query }: { readonly query: { readonly [name: string]: string } }) {
  const chips = chipsOf(query);
  if (chips.length === 0) return null;
  return (
    <div class="chips">
      {chips.map(({ name, text }) => (
        <span key={name} class="chip">
          {text}
          <Button kind="quiet" label={`Remove ${text}`} onClick={() => changeQuery({ [name]: undefined })}>
            <Icon name="cross" size={10} />
          </Button>
        </span>
      ))}
      <Button kind="link" onClick={() => changeQuery(clearedFilters(query))}>
        Remove all
      </Button>
    </div>
  );
}

/** Finds a run by its id, or the runs of a workflow by its slug. */
function Search({ input }: { readonly input: { readonly current: HTMLInputElement | null } }) {
  const [text, setText] = useState('');
  const find = (): void => {
    const wanted = text.trim();
    if (wanted === '') return;
    setText('');
    const isRun = wanted.includes('.');
    changeQuery(
      isRun ? { executionId: wanted, workflowId: undefined } : { workflowId: wanted, executionId: undefined },
      { replace: false },
    );
  };
  return (
    <Form class="" onSubmit={find}>
      <input
        ref={input as { current: HTMLInputElement | null }}
        type="search"
        aria-label="Workflow or id of a run"
        placeholder="Workflow or run id"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </Form>
  );
}

const NoRuns = ({ isFiltered, query }: { readonly isFiltered: boolean; readonly query: RouteMatch['query'] }) =>
  isFiltered ? (
    <EmptyState>
      <p>No run matches.</p>
      <Button onClick={() => changeQuery({ ...clearedFilters(query), status: undefined })}>Show all runs</Button>
    </EmptyState>
  ) : (
    <EmptyState>
      <p>Runs of workflows stand here, the open ones first.</p>
      {hasScreen('workflows') ? <a href={addressOf('workflows')}>Choose a workflow to start</a> : null}
    </EmptyState>
  );
