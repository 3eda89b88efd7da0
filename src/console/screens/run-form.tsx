/** Starts a run of a stored workflow with an input, by a form made from the format of the input. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Json } from '../../json/json.ts';
import { apiPath, post } from '../data/api.ts';
import { lastRunOf } from '../data/last-run.ts';
import { messageOf } from '../data/questions.ts';
import { useAction, useGet } from '../data/resource.ts';
import { isOpen } from '../data/run-text.ts';
import type { Execution, ReadWorkflow } from '../data/types.ts';
import { FormFields, formatIn, pointersUnder, problemsUnder, useForm } from '../form/form.tsx';
import { hasScreen, navigate } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { Form } from '../parts/fields.tsx';
import { ScreenLink, WorkflowLink } from '../parts/link.tsx';
import { ResourceView } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { addressOf, type RouteMatch } from '../routes.ts';
import '../style/people.css';

const STARTED_POLL_MS = 1_000;

export function RunFormScreen({ route }: { readonly route: RouteMatch<'runForm'> }) {
  const { slug } = route.params;
  const workflow = useGet<ReadWorkflow>(apiPath`/api/workflows/${slug}`);
  return (
    <div class="narrow-screen">
      <Screen title={`Run ${workflow.data?.name ?? slug}`} actions={<WorkflowLink slug={slug}>Workflow</WorkflowLink>}>
        <ResourceView resource={workflow} what="the workflow">
          {(read) => <StartForm workflow={read} />}
        </ResourceView>
      </Screen>
    </div>
  );
}

function StartForm({ workflow }: { readonly workflow: ReadWorkflow }) {
  const { slug, enabled, definition } = workflow;
  const format = formatIn(definition['input'] as Json | undefined);
  const form = useForm(format, format === undefined ? {} : undefined);
  const [started, setStarted] = useState<string>();
  // One id for the opened form: a double click starts one run. Another input after a start is another run.
  const request = useRef(crypto.randomUUID());
  const start = useAction(async (input: Json) => {
    const body = { workflowId: slug, input, clientRequestId: request.current };
    const { executionId } = await post<{ executionId: string }>(apiPath`/api/triggers/manual/run`, body);
    request.current = crypto.randomUUID();
    announce('The run has started.');
    if (hasScreen('run')) navigate(addressOf('run', { id: executionId }));
    else setStarted(executionId);
  });
  useEffect(() => {
    if (start.problem === undefined) return;
    // A refused start made no run: what is corrected is a new request.
    request.current = crypto.randomUUID();
    form.showProblems(problemsUnder(start.problem, '/input'));
  }, [start.problem]);
  const last = useAction(async () => {
    const run = await lastRunOf(slug);
    if (run === undefined) return announce('The workflow has no run yet.');
    if (run.input !== undefined) form.fill(run.input as Json);
  });
  return (
    <>
      {started === undefined ? null : <StartedRun id={started} />}
      {typeof definition['description'] === 'string' ? <p>{definition['description']}</p> : null}
      {enabled ? null : <p class="notice">The workflow is disabled. Enable it first.</p>}
      <Form
        class="form card run-form"
        label="The input"
        onSubmit={() => {
          const read = form.submit();
          if (read !== undefined) void start.run(read.value);
        }}
      >
        {format === undefined ? (
          <p class="dim">The workflow declares no input. It accepts any JSON.</p>
        ) : Object.keys(format).length === 0 ? (
          <p class="dim">The workflow needs no input.</p>
        ) : null}
        <FormFields form={form} label="Input" />
        <Problem problem={start.problem} shownPointers={pointersUnder(start.problem, '/input')} />
        <Problem problem={last.problem} />
        <div class="actions">
          <Button onClick={() => void last.run()} isBusy={last.isRunning}>
            Input of the last run
          </Button>
          <Button
            type="submit"
            kind="primary"
            needs="runner"
            isBusy={start.isRunning}
            isDisabled={!enabled}
            disabledReason="The workflow is disabled."
          >
            Start
          </Button>
        </div>
      </Form>
    </>
  );
}

/** What the new run does. */
function StartedRun({ id }: { readonly id: string }) {
  const run = useGet<Execution>(apiPath`/api/executions/${id}`, {
    pollMs: STARTED_POLL_MS,
    isFinal: (now) => !isOpen(now),
  });
  const status = run.data?.status;
  useEffect(() => {
    if (status !== undefined) announce(`The run is ${status}.`);
  }, [status]);
  const questions = (run.data?.waitingFor ?? []).filter(({ kind }) => kind === 'approval' || kind === 'input');
  return (
    <section class="card answered" aria-label="The new run">
      <p>
        Started: <code>{id.split('.').at(-1)}</code> {status === undefined ? null : <StatusBadge status={status} />}
      </p>
      {questions.map((wait) => (
        <p key={wait.path}>
          It asks:{' '}
          <ScreenLink to="approval" params={{ executionId: id, path: wait.path }}>
            {messageOf({ ...wait, kind: wait.kind === 'input' ? 'input' : 'approval' })}
          </ScreenLink>
        </p>
      ))}
    </section>
  );
}
