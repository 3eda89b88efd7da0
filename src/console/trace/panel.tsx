/** One step of a run: its visits in the scope, and of one of them path, port, times, attempts, input and output. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { JsonObject } from '../../json/json.ts';
import { apiPath, get } from '../data/api.ts';
import { absoluteTimeText, countText, durationText } from '../data/format-text.ts';
import { useGet, useResource } from '../data/resource.ts';
import type { Execution, ExecutionDefinition, RunError, StepPage, StepRow } from '../data/types.ts';
import { type Frame, frameText, type Sums, type Visit } from '../graph/scope.ts';
import type { GraphStep } from '../graph/step-graph.ts';
import { Facts } from '../parts/facts.tsx';
import { KindIcon, StatusIcon } from '../parts/icons.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { ExternalLink } from '../parts/link.tsx';
import { LoadingLine, ResourceView } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { RowList } from './row-list.tsx';
import { attemptsOf } from './visits.ts';

interface PanelProps {
  readonly run: Execution;
  readonly sums: Sums;
  readonly step: GraphStep;
  readonly visit: Visit | undefined;
  readonly now: number;
  readonly isNarrowed: boolean;
  readonly onVisit: (visit: Visit) => void;
}

export function StepPanel({ run, sums, step, visit, now, isNarrowed, onVisit }: PanelProps) {
  const visits = useMemo(() => sums.visits.filter(({ stepSlug }) => stepSlug === step.id), [sums, step.id]);
  const ports = sums.steps.get(step.id)?.ports;
  const wired = step.ports.filter((port) => ports?.has(port));
  return (
    <>
      <div class="panel-head">
        <KindIcon kind={step.kind} />
        <h2>{step.name}</h2>
        {visit === undefined ? null : <StatusBadge status={visit.status} />}
      </div>
      <Facts
        entries={{
          Path: <code>{visit?.path ?? step.id}</code>,
          Kind: (
            <>
              {step.stepType}
              {visit?.port === undefined ? null : (
                <>
                  {' · left by '}
                  <code>{visit.port}</code>
                </>
              )}
            </>
          ),
          Began: visit && (
            <>
              {absoluteTimeText(visit.startedAt)}
              <span class="dim">.{String(visit.startedAt % 1_000).padStart(3, '0')}</span> ·{' '}
              {visit.completedAt === undefined
                ? `open for ${durationText(now - visit.startedAt)}`
                : durationText(visit.completedAt - visit.startedAt)}
            </>
          ),
          Ports: wired.length > 1 ? wired.map((port) => `${port} ×${ports!.get(port)}`).join(', ') : undefined,
        }}
      />
      {visits.length > 1 ? (
        <VisitList visits={visits} sums={sums} now={now} selected={visit} onVisit={onVisit} />
      ) : null}
      {visit === undefined ? <p class="dim">Not reached{isNarrowed ? ' in this iteration' : ''}.</p> : null}
      <VisitValues key={`${run.id} ${visit?.number ?? step.id}`} run={run} step={step} visit={visit} />
    </>
  );
}

const VISIT_ROW_HEIGHT = 28;

interface VisitListProps {
  readonly visits: readonly Visit[];
  readonly sums: Sums;
  readonly now: number;
  readonly selected: Visit | undefined;
  readonly onVisit: (visit: Visit) => void;
}

const VisitList = ({ visits, sums, now, selected, onVisit }: VisitListProps) => (
  <>
    <h3>{countText(visits.length, 'visit')}</h3>
    <RowList
      class="visits"
      label="Visits"
      pane={useRef<HTMLDivElement>(null)}
      rows={visits}
      rowHeight={VISIT_ROW_HEIGHT}
      keyOf={({ number }) => number}
      selectedIndex={selected === undefined ? -1 : visits.indexOf(selected)}
      onSelect={onVisit}
    >
      {(visit) => (
        <>
          <StatusIcon status={visit.status} />
          <span>{visitName(visit, sums.frames.frameOf(visit))}</span>
          {visit.attempts > 1 ? <small>{visit.attempts} attempts</small> : null}
          <small>{durationText((visit.completedAt ?? now) - visit.startedAt)}</small>
          <span class="hidden">{visit.status}</span>
        </>
      )}
    </RowList>
  </>
);

function visitName({ visit = 1, path }: Visit, frame: Frame | undefined): string {
  const where = frameText(frame);
  const visitLabel = visit > 1 ? `visit ${visit}` : '';
  return [where, visitLabel].filter((part) => part !== '').join(' · ') || path;
}

type TabName = 'input' | 'output' | 'definition';

interface VisitValuesProps {
  readonly run: Execution;
  readonly step: GraphStep;
  readonly visit: Visit | undefined;
}

function VisitValues({ run, step, visit }: VisitValuesProps) {
  const retrying = run.retrying?.find(({ path }) => path === visit?.path);
  const key =
    visit === undefined
      ? undefined
      : [
          visit.number,
          visit.status,
          visit.attempts,
          visit.completedAt,
          retrying?.attempt,
          retrying?.nextAttemptAt,
        ].join(' ');
  const detail = useResource(key, (signal) =>
    get<StepPage>(apiPath`/api/executions/${run.id}/steps`, {
      query: { step: visit?.path, attempts: true, limit: 100 },
      signal,
    }),
  );
  const [tab, setTab] = useState<TabName>();
  const attempts = visit === undefined ? [] : attemptsOf(detail.data?.items ?? [], visit.startedAt);
  const row = attempts.at(-1);
  const hasOutput = row !== undefined && (row.output !== undefined || row.error !== undefined);
  const shown = tab ?? (visit === undefined ? 'definition' : hasOutput ? 'output' : 'input');
  const tabs = [
    ...(visit === undefined
      ? []
      : [
          { name: 'input' as const, label: 'Input' },
          { name: 'output' as const, label: row?.error === undefined ? 'Output' : 'Error' },
        ]),
    { name: 'definition' as const, label: 'Definition' },
  ];
  return (
    <>
      <Problem problem={detail.problem} onRetry={detail.reload} />
      {attempts.length > 1 || row?.lastError !== undefined ? <Attempts attempts={attempts} /> : null}
      {row?.endedBy === undefined ? null : <p class="notice">Ended by hand through Temporal: {row.endedBy}</p>}
      {row?.temporalUrl === undefined ? null : (
        <p>
          <ExternalLink href={row.temporalUrl}>Event {row.eventId} in Temporal</ExternalLink>
        </p>
      )}
      <Tabs label="Data of the step" id="values" tabs={tabs} selected={shown} onSelect={setTab}>
        {detail.isSlow && row === undefined ? <LoadingLine what="the values" /> : null}
        {row?.unreadable === undefined ? null : <p class="notice">{row.unreadable.message}</p>}
        {shown === 'input' && row !== undefined ? <JsonTree value={row.input} name="input" /> : null}
        {shown === 'output' && row !== undefined ? <Output row={row} step={step} /> : null}
        {shown === 'definition' ? <Definition id={run.id} step={step.id} /> : null}
      </Tabs>
    </>
  );
}

function Output({ row, step }: { readonly row: StepRow; readonly step: GraphStep }) {
  const { error, output } = row;
  return (
    <>
      {error && <Failure error={error} />}
      {output === undefined && error !== undefined ? null : (
        <JsonTree value={output} name="output" expression={`steps.${step.id}.output`} />
      )}
    </>
  );
}

const Failure = ({ error: { code, message, details } }: { readonly error: RunError }) => (
  <div class="failure">
    <b>{code}</b>
    <p>{message}</p>
    {details === undefined ? null : <JsonTree value={details} name="error details" openDepth={1} />}
  </div>
);

const AttemptError = ({ error }: { readonly error: RunError | undefined }) =>
  error === undefined ? null : (
    <p class="why-failed">
      <b>{error.code}</b> {error.message}
    </p>
  );

const Attempts = ({ attempts }: { readonly attempts: readonly StepRow[] }) => (
  <>
    <h3>Attempts</h3>
    <ol class="plain stack attempts">
      {attempts.map(({ attempt, status, error, lastError, startedAt, completedAt, nextAttemptAt, maxAttempts }, n) => {
        const isLast = n === attempts.length - 1;
        const why = isLast ? error : (error ?? attempts[n + 1]?.lastError);
        return (
          <li key={attempt}>
            <StatusIcon status={status} />
            <div>
              Attempt {attempt}
              {maxAttempts === undefined ? '' : ` of ${maxAttempts}`}: {isLast ? status : 'failed'}
              {completedAt === undefined ? null : (
                <span class="dim">
                  {' '}
                  · {absoluteTimeText(Date.parse(completedAt))} ·{' '}
                  {durationText(Date.parse(completedAt) - Date.parse(startedAt))}
                </span>
              )}
              {nextAttemptAt === undefined ? null : (
                <span> · next at {absoluteTimeText(Date.parse(nextAttemptAt))}</span>
              )}
              <AttemptError error={why} />
              <AttemptError error={attempts.length === 1 ? lastError : undefined} />
            </div>
          </li>
        );
      })}
    </ol>
  </>
);

interface DefinitionProps {
  /** Of the run. */
  readonly id: string;
  /** A step of it. Default: the whole definition. */
  readonly step?: string;
}

/** The definition that a run has. */
export const Definition = ({ id, step }: DefinitionProps) => (
  <ResourceView resource={useGet<ExecutionDefinition>(apiPath`/api/executions/${id}/definition`)} what="the definition">
    {({ definition }) =>
      step === undefined ? (
        <JsonTree value={definition} name="definition" openDepth={3} />
      ) : (
        <JsonTree
          value={(definition['steps'] as JsonObject | undefined)?.[step]}
          name="definition of the step"
          openDepth={3}
        />
      )
    }
  </ResourceView>
);

type Cost = NonNullable<Execution['costs']>[number];

const costText = ({ input_tokens: input, output_tokens: output, usd_cost: cost }: Cost): string =>
  `${input.toLocaleString('en-GB')} tokens in, ${output.toLocaleString('en-GB')} out, $${cost.toFixed(4)}`;

/** The panel while no step is selected: input and output of the run. */
export const RunPanel = ({ run }: { readonly run: Execution }) => (
  <>
    <div class="panel-head">
      <h2>The run</h2>
    </div>
    <Facts
      entries={{
        Id: <code>{run.id}</code>,
        Parent: run.parentId && <code>{run.parentId}</code>,
        Model: run.model,
        ...Object.fromEntries((run.costs ?? []).map((cost) => [cost.key_type, costText(cost)])),
      }}
    />
    <h3>Input</h3>
    <JsonTree value={run.input} name="input of the run" expression="input" />
    {run.error && <Failure error={run.error} />}
    {run.output === undefined ? null : (
      <>
        <h3>Output</h3>
        <JsonTree value={run.output} name="output of the run" />
      </>
    )}
  </>
);
