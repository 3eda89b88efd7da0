/** Tries a draft: a dry run with an input, outputs in place of steps, and answers for what it waits for. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { canonicalText } from '../../json/canonical-text.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { at, get, post } from '../data/api.ts';
import { lastRunOf } from '../data/last-run.ts';
import { parsed } from '../data/parsed.ts';
import { ApiProblem } from '../data/problem.ts';
import { useAction } from '../data/resource.ts';
import type { DryRun, StepPage } from '../data/types.ts';
import { FormFields, formatIn, pointersUnder, problemsUnder, useForm } from '../form/form.tsx';
import { emptySum, type StepSum } from '../graph/scope.ts';
import type { GraphInput } from '../graph/ways.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { DryRunResult } from '../parts/dry-run.tsx';
import { Form, TextArea } from '../parts/fields.tsx';
import { Json as JsonTree } from '../parts/json.tsx';
import { RunLink } from '../parts/link.tsx';
import { Problem } from '../parts/problem.tsx';
import {
  type Asked,
  hasMistake,
  type Preset,
  PresetFields,
  type Presets,
  presetsIn,
  stepsToPreset,
} from './presets.tsx';

interface TryProps {
  readonly slug: string;
  /** The draft, as far as it can be read. */
  readonly value: Json | undefined;
  readonly graph: GraphInput | undefined;
  readonly onWalked: (run: DryRun | undefined) => void;
  readonly onStep: (slug: string) => void;
}

/** What a former run gave. */
interface Expected {
  readonly id: string;
  readonly output: Json | undefined;
}

const ANSWERS_HINT =
  'By step that waits, as JSON: {"decision": "approved"}, {"form": …}, {"message": …} or {"timeout": true}.';
const MOST_PAGES = 10;
const PAGE = 200;

export function Try({ slug, value, graph, onWalked, onStep }: TryProps) {
  const definition = useMemo<JsonObject>(() => (isObject(value) ? value : {}), [value]);
  const format = formatIn(definition['input']);
  const form = useForm(format, format === undefined ? {} : undefined);
  const [presets, setPresets] = useState<Presets>({});
  const [answers, setAnswers] = useState('');
  const [walked, setWalked] = useState<DryRun>();
  const [expected, setExpected] = useState<Expected>();
  const [asked, setAsked] = useState<Asked>();
  const wrongAnswers = useMemo(() => mistakeIn(answers), [answers]);

  const walk = useAction(async (input: Json) => {
    const options = { presets: presetsIn(presets), answers: objectIn(answers) };
    const run = await post<DryRun>('/api/executions', { definition, input, dryRun: true, ...options });
    setWalked(run);
    onWalked(run);
    announce(`The dry run is ${run.status}.`);
  });
  useEffect(() => {
    if (walk.problem !== undefined) form.refuse(problemsUnder(walk.problem, '/input'));
  }, [walk.problem]);
  const former = useAction(async () => {
    const last = await lastRunOf(slug);
    if (last === undefined) throw new ApiProblem({ status: 0, code: 'no_run', detail: 'It has no run yet.' });
    const found = await outputsOf(last.id, graph);
    if (last.input !== undefined) form.fill(last.input as Json);
    setPresets(found);
    const result = await get<{ output?: Json }>(at`/api/executions/${last.id}/result`).catch(() => undefined);
    setExpected({ id: last.id, output: result?.output });
    announce('Filled in from the last run.');
  });

  return (
    <div class="stack editor-try">
      <Form
        label="Try it"
        onSubmit={() => {
          const read = form.submit();
          if (read !== undefined && !hasMistake(presets) && wrongAnswers === undefined) void walk.run(read.value);
        }}
      >
        <p class="dim">A dry run has no effects: nothing is sent, and time is simulated.</p>
        <FormFields form={form} label="Input" />
        <PresetFields graph={graph} presets={presets} onPresets={setPresets} asked={asked} />
        <details>
          <summary>Answers to what it waits for</summary>
          <TextArea
            label="Answers"
            hint={ANSWERS_HINT}
            value={answers}
            onValue={setAnswers}
            error={wrongAnswers}
            rows={4}
            isCode
          />
        </details>
        <Problem problem={former.problem} />
        <Problem problem={walk.problem} shown={pointersUnder(walk.problem, '/input')} />
        <div class="actions">
          <Button onClick={() => void former.run()} isBusy={former.isRunning}>
            Fill in from the last run
          </Button>
          <Button
            type="submit"
            kind="primary"
            needs="runner"
            isBusy={walk.isRunning}
            isDisabled={value === undefined}
            why="The text cannot be read."
          >
            Dry run
          </Button>
        </div>
      </Form>
      {walked === undefined ? null : (
        <Outcome run={walked} expected={expected} onStep={onStep} onPreset={(asks) => setAsked({ slug: asks })} />
      )}
    </div>
  );
}

interface OutcomeProps {
  readonly run: DryRun;
  readonly expected: Expected | undefined;
  readonly onStep: (slug: string) => void;
  /** Asks for an output in place of a step. */
  readonly onPreset: (slug: string) => void;
}

function Outcome({ run, expected, onStep, onPreset }: OutcomeProps) {
  const { output } = run;
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [run]);
  const isKnown = expected?.output !== undefined && output !== undefined;
  return (
    <section class="stack editor-outcome" aria-label="Result of the dry run" ref={section}>
      <DryRunResult run={run} onStep={onStep} onPreset={onPreset}>
        {isKnown && canonicalText(output as Json) === canonicalText(expected.output as Json)
          ? 'As in the last run.'
          : isKnown
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
export function sumsOf({ steps }: DryRun): Map<string, StepSum> {
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

/** The last outputs of a run's effects and waits that the draft still has. */
async function outputsOf(id: string, graph: GraphInput | undefined): Promise<Presets> {
  const wanted = new Set(stepsToPreset(graph).map((node) => node.id));
  const found: { [slug: string]: Preset } = {};
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const query = { limit: PAGE, cursor, exclude: 'input' };
    const page = await get<StepPage>(at`/api/executions/${id}/steps`, { query });
    for (const { stepSlug, status, output, port } of page.items)
      if (wanted.has(stepSlug) && status === 'completed' && isObject(output))
        found[stepSlug] = { text: JSON.stringify(output['data'] ?? null, null, 2), port: port ?? '' };
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return found;
}

/** Why a text is no JSON object; undefined where it is one, or empty. */
function mistakeIn(text: string): string | undefined {
  const { value, error } = parsed(text);
  return value === undefined || isObject(value) ? error : 'Write a JSON object: {"step": …}.';
}

const objectIn = (text: string): JsonObject | undefined =>
  text.trim() === '' ? undefined : (JSON.parse(text) as JsonObject);
