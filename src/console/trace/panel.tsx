/** One step of a run: its visits in the scope, and of one of them path, port, times, attempts, input and output. */
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { at, get } from '../data/api.ts';
import { absoluteText, counted, durationText } from '../data/labels.ts';
import { useResource } from '../data/resource.ts';
import type { Execution, ExecutionDefinition, StepPage, StepRow } from '../data/types.ts';
import { type Frame, type Sums, type Visit, whereText } from '../graph/scope.ts';
import type { GraphStep } from '../graph/ways.ts';
import { KindIcon, StatusMark } from '../parts/icons.tsx';
import { Json } from '../parts/json.tsx';
import { Outward } from '../parts/link.tsx';
import { LoadingLine } from '../parts/loading.tsx';
import { pixels } from '../parts/pixels.ts';
import { Problem } from '../parts/problem.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { attemptsOf } from './attempts.ts';
import { showRow, useVirtual } from './virtual.ts';

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
  const wired = step.ports.filter((port) => sums.steps.get(step.id)?.ports.has(port));
  return (
    <>
      <div class="panel-head">
        <KindIcon kind={step.kind} />
        <h2>{step.name}</h2>
        {visit === undefined ? null : <StatusBadge status={visit.status} />}
      </div>
      <dl class="facts">
        <dt>Path</dt>
        <dd>
          <code>{visit?.path ?? step.id}</code>
        </dd>
        <dt>Kind</dt>
        <dd>
          {step.stepType}
          {visit?.port === undefined ? null : (
            <>
              {' · left by '}
              <code>{visit.port}</code>
            </>
          )}
        </dd>
        {visit === undefined ? null : (
          <>
            <dt>Began</dt>
            <dd>
              {absoluteText(visit.startedAt)}
              <span class="dim">.{String(visit.startedAt % 1_000).padStart(3, '0')}</span> ·{' '}
              {visit.completedAt === undefined
                ? `open for ${durationText(now - visit.startedAt)}`
                : durationText(visit.completedAt - visit.startedAt)}
            </dd>
          </>
        )}
        {wired.length > 1 ? (
          <>
            <dt>Ports</dt>
            <dd>{wired.map((port) => `${port} ×${sums.steps.get(step.id)!.ports.get(port)}`).join(', ')}</dd>
          </>
        ) : null}
      </dl>
      {visits.length > 1 ? (
        <VisitList visits={visits} sums={sums} now={now} selected={visit} onVisit={onVisit} />
      ) : null}
      {visit === undefined ? <p class="dim">Not reached{isNarrowed ? ' in this iteration' : ''}.</p> : null}
      <Values key={`${run.id} ${visit?.number ?? step.id}`} run={run} step={step} visit={visit} />
    </>
  );
}

const VISIT = 28;

interface VisitListProps {
  readonly visits: readonly Visit[];
  readonly sums: Sums;
  readonly now: number;
  readonly selected: Visit | undefined;
  readonly onVisit: (visit: Visit) => void;
}

function VisitList({ visits, sums, now, selected, onVisit }: VisitListProps) {
  const pane = useRef<HTMLDivElement>(null);
  const { from, to } = useVirtual(pane, visits.length, VISIT);
  const at = selected === undefined ? -1 : visits.indexOf(selected);
  useEffect(() => {
    if (at >= 0) showRow(pane.current, at, VISIT);
  }, [at]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const next = visits[Math.max(0, at + step)];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    onVisit(next);
  };
  return (
    <>
      <h3>{counted(visits.length, 'visit')}</h3>
      {/* biome-ignore lint/a11y/useSemanticElements: visits are no fields. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and arrow keys move in it. */}
      <div class="visits" ref={pane} role="group" aria-label="Visits" tabIndex={0} onKeyDown={onKeyDown}>
        <div class="visits-inner" style={pixels({ height: visits.length * VISIT })}>
          {visits.slice(from, to).map((visit, n) => (
            <button
              type="button"
              tabIndex={-1}
              key={visit.number}
              class={visit === selected ? 'visit selected' : 'visit'}
              aria-pressed={visit === selected}
              style={pixels({ top: (from + n) * VISIT })}
              onClick={() => onVisit(visit)}
            >
              <StatusMark status={visit.status} />
              <span>{visitName(visit, sums.frames.of(visit))}</span>
              {visit.attempts > 1 ? <small>{visit.attempts} attempts</small> : null}
              <small>{durationText((visit.completedAt ?? now) - visit.startedAt)}</small>
              <span class="hidden">{visit.status}</span>
            </button>
          ))}
        </div>
      </div>
    </>
  );
}

function visitName({ visit = 1, path }: Visit, frame: Frame | undefined): string {
  const where = whereText(frame);
  const again = visit > 1 ? `visit ${visit}` : '';
  return [where, again].filter((part) => part !== '').join(' · ') || path;
}

type TabName = 'input' | 'output' | 'definition';

interface ValuesProps {
  readonly run: Execution;
  readonly step: GraphStep;
  readonly visit: Visit | undefined;
}

function Values({ run, step, visit }: ValuesProps) {
  const tries = run.retrying?.find(({ path }) => path === visit?.path);
  const key =
    visit === undefined
      ? undefined
      : [visit.number, visit.status, visit.attempts, visit.completedAt, tries?.attempt, tries?.nextAttemptAt].join(' ');
  const detail = useResource(key, (signal) =>
    get<StepPage>(at`/api/executions/${run.id}/steps`, {
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
      <Problem problem={detail.problem} again={detail.again} />
      {attempts.length > 1 || row?.lastError !== undefined ? <Attempts attempts={attempts} /> : null}
      {row?.endedBy === undefined ? null : <p class="notice">Ended by hand through Temporal: {row.endedBy}</p>}
      {row?.temporalUrl === undefined ? null : (
        <p>
          <Outward href={row.temporalUrl}>Event {row.eventId} in Temporal</Outward>
        </p>
      )}
      <Tabs label="Data of the step" id="values" tabs={tabs} selected={shown} onSelect={setTab}>
        {detail.isSlow && row === undefined ? <LoadingLine what="the values" /> : null}
        {row?.unreadable === undefined ? null : <p class="notice">{row.unreadable.message}</p>}
        {shown === 'input' && row !== undefined ? <Json value={row.input} name="input" /> : null}
        {shown === 'output' && row !== undefined ? <Output row={row} step={step} /> : null}
        {shown === 'definition' ? <Definition id={run.id} slug={step.id} /> : null}
      </Tabs>
    </>
  );
}

function Output({ row, step }: { readonly row: StepRow; readonly step: GraphStep }) {
  const { error, output } = row;
  return (
    <>
      {error === undefined ? null : (
        <div class="failure">
          <b>{error.code}</b>
          <p>{error.message}</p>
          {error.details === undefined ? null : <Json value={error.details} name="error details" openTo={1} />}
        </div>
      )}
      {output === undefined && error !== undefined ? null : (
        <Json value={output} name="output" expression={`steps.${step.id}.output`} />
      )}
    </>
  );
}

const Attempts = ({ attempts }: { readonly attempts: readonly StepRow[] }) => (
  <>
    <h3>Attempts</h3>
    <ol class="attempts">
      {attempts.map(({ attempt, status, error, lastError, startedAt, completedAt, nextAttemptAt, maxAttempts }, n) => {
        const isLast = n === attempts.length - 1;
        const why = isLast ? error : (error ?? attempts[n + 1]?.lastError);
        return (
          <li key={attempt}>
            <StatusMark status={status} />
            <div>
              Attempt {attempt}
              {maxAttempts === undefined ? '' : ` of ${maxAttempts}`}: {isLast ? status : 'failed'}
              {completedAt === undefined ? null : (
                <span class="dim">
                  {' '}
                  · {absoluteText(Date.parse(completedAt))} ·{' '}
                  {durationText(Date.parse(completedAt) - Date.parse(startedAt))}
                </span>
              )}
              {nextAttemptAt === undefined ? null : <span> · next at {absoluteText(Date.parse(nextAttemptAt))}</span>}
              {why === undefined ? null : (
                <p class="why-failed">
                  <b>{why.code}</b> {why.message}
                </p>
              )}
              {isLast && attempts.length === 1 && lastError !== undefined ? (
                <p class="why-failed">
                  <b>{lastError.code}</b> {lastError.message}
                </p>
              ) : null}
            </div>
          </li>
        );
      })}
    </ol>
  </>
);

function Definition({ id, slug }: { readonly id: string; readonly slug: string }) {
  const { data, problem, isSlow, again } = useResource(id, (signal) =>
    get<ExecutionDefinition>(at`/api/executions/${id}/definition`, { signal }),
  );
  const steps = data?.definition['steps'] as { readonly [slug: string]: unknown } | undefined;
  return (
    <>
      <Problem problem={problem} again={again} />
      {isSlow && data === undefined ? <LoadingLine what="the definition" /> : null}
      {data === undefined ? null : <Json value={steps?.[slug]} name="definition of the step" openTo={3} />}
    </>
  );
}

/** What the panel shows while no step is selected: what the run was given, and what came of it. */
export const RunPanel = ({ run }: { readonly run: Execution }) => (
  <>
    <div class="panel-head">
      <h2>The run</h2>
    </div>
    <dl class="facts">
      <dt>Id</dt>
      <dd>
        <code>{run.id}</code>
      </dd>
      {run.parentId === undefined ? null : (
        <>
          <dt>Parent</dt>
          <dd>
            <code>{run.parentId}</code>
          </dd>
        </>
      )}
      {run.model === undefined ? null : (
        <>
          <dt>Model</dt>
          <dd>{run.model}</dd>
        </>
      )}
      {(run.costs ?? []).map(({ key_type: key, input_tokens: input, output_tokens: output, usd_cost: cost }) => (
        <Fragment key={key}>
          <dt>{key}</dt>
          <dd>
            {input.toLocaleString('en-GB')} tokens in, {output.toLocaleString('en-GB')} out, ${cost.toFixed(4)}
          </dd>
        </Fragment>
      ))}
    </dl>
    <h3>Input</h3>
    <Json value={run.input} name="input of the run" expression="input" />
    {run.error === undefined ? null : (
      <div class="failure">
        <b>{run.error.code}</b>
        <p>{run.error.message}</p>
        {run.error.details === undefined ? null : <Json value={run.error.details} name="error details" openTo={1} />}
      </div>
    )}
    {run.output === undefined ? null : (
      <>
        <h3>Output</h3>
        <Json value={run.output} name="output of the run" />
      </>
    )}
  </>
);
