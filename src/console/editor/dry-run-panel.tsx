/** Dry runs of a draft: with an input, presets for steps, and answers to waits. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { canonicalText } from '../../json/canonical-text.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { apiPath, get, post } from '../data/api.ts';
import { lastRunOf } from '../data/last-run.ts';
import { parseJsonInput } from '../data/parse-json-input.ts';
import { ApiProblem } from '../data/problem.ts';
import { useAction } from '../data/resource.ts';
import type { DryRun, StepPage } from '../data/types.ts';
import { FormFields, formatIn, pointersUnder, problemsUnder, useForm } from '../form/form.tsx';
import { emptySum, type StepSum } from '../graph/scope.ts';
import type { GraphInput } from '../graph/step-graph.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { DryRunResult } from '../parts/dry-run-result.tsx';
import { Form, TextArea } from '../parts/fields.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { RunLink } from '../parts/link.tsx';
import { Problem } from '../parts/problem.tsx';
import {
  hasInvalidPreset,
  type Preset,
  PresetFields,
  type PresetRequest,
  type Presets,
  presetsBody,
  stepsToPreset,
} from './presets.tsx';

interface DryRunPanelProps {
  readonly slug: string;
  /** The draft, as far as it can be read. */
  readonly value: Json | undefined;
  readonly graph: GraphInput | undefined;
  readonly onDryRun: (run: DryRun | undefined) => void;
  readonly onStep: (slug: string) => void;
}

/** The result of the last run, to compare with. */
interface LastRunResult {
  readonly id: string;
  readonly output: Json | undefined;
}

const ANSWERS_HINT =
  'By step that waits, as JSON: {"decision": "approved"}, {"form": …}, {"message": …} or {"timeout": true}.';
const MAX_PAGES = 10;
const PAGE_SIZE = 200;

export function DryRunPanel({ slug, value, graph, onDryRun, onStep }: DryRunPanelProps) {
  const definition = useMemo<JsonObject>(() => (isObject(value) ? value : {}), [value]);
  const format = formatIn(definition['input']);
  const form = useForm(format, format === undefined ? {} : undefined);
  const [presets, setPresets] = useState<Presets>({});
  const [answers, setAnswers] = useState('');
  const [dryRun, setDryRun] = useState<DryRun>();
  const [expected, setExpected] = useState<LastRunResult>();
  const [requestedPreset, setRequestedPreset] = useState<PresetRequest>();
  const answersError = useMemo(() => jsonObjectError(answers), [answers]);

  const runDry = useAction(async (input: Json) => {
    const options = { presets: presetsBody(presets), answers: parseJsonObject(answers) };
    const run = await post<DryRun>('/api/executions', { definition, input, dryRun: true, ...options });
    setDryRun(run);
    onDryRun(run);
    announce(`The dry run is ${run.status}.`);
  });
  useEffect(() => {
    if (runDry.problem !== undefined) form.showProblems(problemsUnder(runDry.problem, '/input'));
  }, [runDry.problem]);
  const fillFromLastRun = useAction(async () => {
    const last = await lastRunOf(slug);
    if (last === undefined) throw new ApiProblem({ status: 0, code: 'no_run', detail: 'It has no run yet.' });
    const found = await presetsFromRun(last.id, graph);
    if (last.input !== undefined) form.fill(last.input as Json);
    setPresets(found);
    const result = await get<{ output?: Json }>(apiPath`/api/executions/${last.id}/result`).catch(() => undefined);
    setExpected({ id: last.id, output: result?.output });
    announce('Filled in from the last run.');
  });

  return (
    <div class="stack editor-try">
      <Form
        label="Try it"
        onSubmit={() => {
          const read = form.submit();
          if (read !== undefined && !hasInvalidPreset(presets) && answersError === undefined)
            void runDry.run(read.value);
        }}
      >
        <p class="dim">A dry run has no effects: nothing is sent, and time is simulated.</p>
        <FormFields form={form} label="Input" />
        <PresetFields graph={graph} presets={presets} onPresets={setPresets} requested={requestedPreset} />
        <details>
          <summary>Answers to what it waits for</summary>
          <TextArea
            label="Answers"
            hint={ANSWERS_HINT}
            value={answers}
            onValue={setAnswers}
            error={answersError}
            rows={4}
            isCode
          />
        </details>
        <Problem problem={fillFromLastRun.problem} />
        <Problem problem={runDry.problem} shownPointers={pointersUnder(runDry.problem, '/input')} />
        <div class="actions">
          <Button onClick={() => void fillFromLastRun.run()} isBusy={fillFromLastRun.isRunning}>
            Fill in from the last run
          </Button>
          <Button
            type="submit"
            kind="primary"
            needs="runner"
            isBusy={runDry.isRunning}
            isDisabled={value === undefined}
            disabledReason="The text cannot be read."
          >
            Dry run
          </Button>
        </div>
      </Form>
      {dryRun === undefined ? null : (
        <Outcome
          run={dryRun}
          expected={expected}
          onStep={onStep}
          onPreset={(asks) => setRequestedPreset({ slug: asks })}
        />
      )}
    </div>
  );
}

interface OutcomeProps {
  readonly run: DryRun;
  readonly expected: LastRunResult | undefined;
  readonly onStep: (slug: string) => void;
  /** Requests a preset for a step. */
  readonly onPreset: (slug: string) => void;
}

function Outcome({ run, expected, onStep, onPreset }: OutcomeProps) {
  const { output } = run;
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [run]);
  const isComparable = expected?.output !== undefined && output !== undefined;
  return (
    <section class="stack editor-outcome" aria-label="Result of the dry run" ref={section}>
      <DryRunResult run={run} onStep={onStep} onPreset={onPreset}>
        {isComparable && canonicalText(output as Json) === canonicalText(expected.output as Json)
          ? 'As in the last run.'
          : isComparable
            ? 'Not as in the last run.'
            : 'Result'}
      </DryRunResult>
      {expected === undefined ? null : (
        <>
          <h2>
            Output of run <RunLink id={expected.id} />
          </h2>
          <JsonTree value={expected.output} name="output of the run" />
        </>
      )}
    </section>
  );
}

/** What each step did in a dry run, for the graph. */
export function dryRunSums({ steps }: DryRun): Map<string, StepSum> {
  const sums = new Map<string, StepSum>();
  for (const { stepSlug, status, port, attempts } of steps) {
    const sum = sums.get(stepSlug) ?? emptySum();
    sum.status = status;
    sum.visits++;
    sum.retries += Math.max(0, attempts - 1);
    if (status === 'failed') sum.failed++;
    if (status === 'running' || status === 'waiting') sum.open++;
    if (port !== undefined) sum.ports.set(port, (sum.ports.get(port) ?? 0) + 1);
    sums.set(stepSlug, sum);
  }
  return sums;
}

/** The last outputs of a run for the steps of the draft that need a preset. */
async function presetsFromRun(id: string, graph: GraphInput | undefined): Promise<Presets> {
  const wanted = new Set(stepsToPreset(graph).map((node) => node.id));
  const found: { [slug: string]: Preset } = {};
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const query = { limit: PAGE_SIZE, cursor, exclude: 'input' };
    const page = await get<StepPage>(apiPath`/api/executions/${id}/steps`, { query });
    for (const { stepSlug, status, output, port } of page.items)
      if (wanted.has(stepSlug) && status === 'completed' && isObject(output))
        found[stepSlug] = { text: JSON.stringify(output['data'] ?? null, null, 2), port: port ?? '' };
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return found;
}

/** Why a text is not a JSON object; undefined if it is one, or empty. */
function jsonObjectError(text: string): string | undefined {
  const { value, error } = parseJsonInput(text);
  return value === undefined || isObject(value) ? error : 'Write a JSON object: {"step": …}.';
}

const parseJsonObject = (text: string): JsonObject | undefined =>
  text.trim() === '' ? undefined : (JSON.parse(text) as JsonObject);
