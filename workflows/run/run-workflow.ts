/**
 * The workflow `run`: binds the core (src/engine) to Temporal. It decides nothing about a definition. It hands events
 * to the core and carries out the core's commands (ARCHITECTURE.md §3).
 *
 * - Everything that happens is an event, applied immediately and synchronously: signals and updates in their handlers,
 *   results of activities and timers as the SDK resolves them. The core's commands go out in the same activation.
 * - The workflow function itself only waits for work that is done once for many events: to show the run, to end it, to
 *   continue it as new.
 * - A definition that cannot run fails the run with a typed error. `failureExceptionTypes` makes any other thrown error
 *   fail it too. Detached promises catch their errors (TEMPORAL.md §1).
 */

import {
  allHandlersFinished,
  CancellationScope,
  condition,
  log,
  makeContinueAsNewFunc,
  setWorkflowOptions,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { YIELD_ACTIVITY_ID } from '../../src/contract/run/activity.ts';
import { CANCEL_REASON, RUN_WORKFLOW, type RunError, type RunInput } from '../../src/contract/run/run.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { genesis } from '../../src/engine/advance.ts';
import { limiterIds, wantedSlots } from '../../src/engine/inbound/admission.ts';
import { inboxOf, pausedSince, statusOf, waitingFor } from '../../src/engine/inbound/view.ts';
import { withRenewedSlots } from '../../src/engine/resume/rewind.ts';
import { type Inbound, type Outbound, Runner, type RunnerPolicy, segmentConfig } from '../../src/engine/runner.ts';
import { carriedLimitOf } from '../../src/engine/state/limits.ts';
import type { Event } from '../../src/engine/state/protocol.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import { genesisOf, runInputOf } from '../../src/engine/state/start.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { asJson, type Json, type JsonObject } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { compile } from '../../src/steps/compile/program.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { ActivitiesAndTimers, dataBytes, isMarked } from './activities-and-timers.ts';
import { cancelDetails, endAsCancelled } from './cancellation.ts';
import { Children, openChildren } from './children.ts';
import { ContinueAsNewPolicy } from './continue-as-new-policy.ts';
import type { RefusedRequest } from './current-details.ts';
import { internalError, invalidDefinition, runFailure } from './failures.ts';
import { type Answer, answerQueries, answerUpdates, listenToSignals, type RunHandlers } from './message-handlers.ts';
import { reportToParent } from './parent-report.ts';
import { releaseSlots, Slots } from './slots.ts';
import { type RunView, showDetails, upsertVisibility } from './visibility.ts';

setWorkflowOptions({ failureExceptionTypes: [Error] }, run);

/**
 * Walks a definition to its end and answers its output. The argument is RunInput, or a bare definition.
 * Fails with ApplicationFailure of type = code and details = [RunError]; `invalid_definition` where there is nothing to
 * walk. Ends as cancelled when the workflow is cancelled.
 */
export async function run(argument: RunInput | Definition): Promise<Json> {
  const input = runInputOf(argument);
  if (input === undefined) {
    throw invalidDefinition([
      {
        pointer: '',
        code: 'not_a_definition',
        message: 'The argument of run is {definition, input?, presets?}, or a definition with `steps`.',
      },
    ]);
  }
  const execution = new RunExecution(compileOrFail(input.definition), input);
  execution.onCancellation(CancellationScope.current());
  // The core decides what a cancellation ends, so Temporal cancels nothing below by itself.
  return CancellationScope.nonCancellable(() => execution.runToEnd());
}

function compileOrFail(definition: Definition): Program {
  let result: ReturnType<typeof compile>;
  try {
    result = compile(definition, { dataBytes, isMarked });
  } catch (error) {
    // A run that was started by hand has a definition of any shape: nobody checked it against the schema.
    const message = error instanceof Error ? error.message : String(error);
    throw invalidDefinition([{ pointer: '', code: 'malformed', message: `The document cannot be read: ${message}` }]);
  }
  if ('problems' in result) throw invalidDefinition(result.problems);
  return result.program;
}

/** `isNew`: an event of history that ends no activity or timer of ActivitiesAndTimers. */
type RunInbound = Inbound & { readonly isNew?: true; readonly answered?: (answer: Answer) => void };

type Outcome =
  | { readonly as: 'completed'; readonly output: Json }
  | { readonly as: 'failed'; readonly error: RunError }
  | { readonly as: 'cancelled'; readonly reason?: string; readonly details?: JsonObject };

/** One execution of a run: from its start, or from where the last one continued as new, to its end or the next. */
class RunExecution {
  readonly #program: Program;
  readonly #input: RunInput;
  readonly #state: RunState;
  readonly #runner: Runner<RunInbound>;
  readonly #commands: ActivitiesAndTimers;
  readonly #children: Children;
  readonly #slots: Slots;
  readonly #policy = new ContinueAsNewPolicy();
  #outcome: Outcome | undefined;
  #pendingView: RunView | undefined;
  /** The report of the returned output to the parent, before the activities in flight have ended. */
  #reported: Promise<void> | undefined;
  /** The last signal that was ignored. */
  #refused: RefusedRequest | undefined;

  constructor(program: Program, input: RunInput) {
    const { workflowId, startTime, continuedFromExecutionRunId } = workflowInfo();
    this.#program = program;
    this.#input = input;
    const start = genesisOf(input, workflowId, startTime.getTime());
    if (input.carried === undefined) this.#state = genesis(program, start);
    else if (continuedFromExecutionRunId !== undefined) this.#state = restore(input.carried);
    else this.#state = withRenewedSlots(program, restore(input.carried), start.startedAt);
    const { organizationId } = this.#state.genesis;
    const { hash, inline } = input;
    const execution = {
      id: workflowId,
      workflow: program.definition.slug,
      organizationId,
      definition: omitUndefined({ hash, inline }),
    };
    this.#runner = this.#runnerOf(program, this.#state);
    const receive = (inbound: Inbound): void => this.#take(inbound);
    const receiveNew = (inbound: Inbound): void => this.#take({ ...inbound, isNew: true });
    this.#commands = new ActivitiesAndTimers(execution, receive, (slug) => program.steps.get(slug)?.name);
    this.#slots = new Slots({ execution, receive: receiveNew, wanted: () => wantedSlots(this.#state) });
    this.#children = new Children({
      parent: {
        executionId: workflowId,
        organizationId,
        depth: this.#state.genesis.depth,
        within: [...(input.within ?? []), ...limiterIds(this.#state)],
        ...omitUndefined({ initiator: input.initiator, requesters: input.requesters }),
      },
      workflow: program.definition.slug,
      receive: receiveNew,
      noteEvent: () => this.#policy.noteEvent(),
      open: () => openChildren(this.#state),
    });
  }

  #runnerOf(program: Program, state: RunState): Runner<RunInbound> {
    const policy: RunnerPolicy = {
      mayBeginSegment: () => isMarked('segments') && !this.#policy.holdsCommands(),
      holdsCommands: () => this.#policy.holdsCommands(),
    };
    let [wasPaused, dropped] = [state.paused, state.droppedCount];
    return new Runner(program, state, policy, {
      onArrival: (inbound) => this.#note(inbound),
      beforeEvent: (event) => {
        [wasPaused, dropped] = [state.paused, state.droppedCount];
        return event;
      },
      afterEvent: (event) => this.#noteVisibleChange(event, wasPaused, dropped),
    });
  }

  #note(inbound: RunInbound): void {
    if (inbound.isNew === true) this.#commands.noteEvent();
    if (inbound.type === 'started' || inbound.type === 'cancelRequested') return;
    if ('id' in inbound && inbound.id === YIELD_ACTIVITY_ID) this.#policy.noteEvent();
    else this.#policy.noteOutsideEvent();
  }

  /** `root`: the scope that Temporal cancels. */
  onCancellation(root: CancellationScope): void {
    root.cancelRequested.catch(() => {
      this.#policy.disable();
      this.#take({ type: 'cancelRequested', at: Date.now(), isNew: true });
    });
  }

  /** Walks to the end, or to the next execution. */
  async runToEnd(): Promise<Json> {
    const at = Date.now();
    if (this.#input.carried === undefined) this.#take({ type: 'started', at });
    else this.#resumeCarried(at);
    this.#listen();
    for (;;) {
      await condition(() => this.#outcome !== undefined || this.#pendingView !== undefined || this.#mayContinue());
      // An update that was accepted is answered before the run ends or continues.
      if (!allHandlersFinished()) await condition(allHandlersFinished);
      if (this.#outcome !== undefined) return await this.#conclude(this.#outcome);
      if (this.#pendingView !== undefined) this.#show(this.#pendingView);
      if (this.#mayContinue()) await this.#continueAsNew();
    }
  }

  #listen(): void {
    const run: RunHandlers = {
      take: (event, as, answered) => this.#take({ type: 'message', at: event.at, as, event, isNew: true, answered }),
      isFree: () => this.#runner.hasNoSegment,
      admit: (event) => this.#runner.admits(event),
      ignored: (signal, message) => {
        this.#refused = { signal, at: new Date().toISOString(), message };
        this.#showDetails();
      },
    };
    listenToSignals(run);
    answerUpdates(run);
    answerQueries({
      status: () => ({
        status: statusOf(this.#state),
        waitingFor: asJson(waitingFor(this.#state)),
        ...inboxOf(this.#state),
        ...(this.#state.paused ? { paused: true, pausedSince: pausedSince(this.#state) ?? null } : {}),
      }),
      waiting: () => asJson(waitingFor(this.#state)),
      steps: () => stepsOf(this.#state),
      state: () => asJson(this.#state),
    });
  }

  /** Never throws: it is called from handlers and detached promises. */
  #take(inbound: RunInbound): void {
    for (const outbound of this.#runner.take(inbound)) {
      try {
        if (outbound !== undefined) this.#perform(outbound);
      } catch (error) {
        this.#failInternally(error, inbound.type);
      }
    }
  }

  #failInternally(error: unknown, during: string): void {
    log.error('The core failed.', { error: String(error), event: during });
    this.#runner.stop();
    this.#outcome = { as: 'failed', error: internalError(error) };
  }

  #noteVisibleChange(event: Event, wasPaused: boolean, dropped: number | undefined): void {
    // Each vote of a person changes the lists. Votes of nobody in particular are shown here.
    if (event.type === 'decide' && this.#pendingView === undefined && this.#countsVotes())
      this.#pendingView = this.#currentView();
    const { paused, droppedCount } = this.#state;
    if (droppedCount !== dropped) {
      this.#showDetails();
      // Only the first: each more would be an event of history. Lists get the number when the run is shown next.
      if (dropped === undefined) this.#pendingView ??= this.#currentView();
    }
    if (paused === wasPaused) return;
    this.#showDetails();
    this.#pendingView = this.#currentView();
  }

  #perform(outbound: Outbound<RunInbound>): void {
    switch (outbound.type) {
      case 'run':
        this.#commands.activity(outbound);
        return;
      case 'attempt':
        this.#commands.nextAttempt(outbound);
        return;
      case 'segment':
        this.#commands.segment(segmentConfig(this.#program, this.#state, outbound.at), outbound.runs[0]?.id ?? '');
        return;
      case 'endSegmentEarly':
        this.#commands.endSegmentEarly();
        return;
      case 'yield':
        this.#commands.yieldTask();
        return;
      case 'timer':
        this.#commands.timer(outbound.id, outbound.at);
        return;
      case 'child':
        this.#children.start(outbound);
        return;
      case 'slots':
        this.#slots.requestSlots(outbound.gates);
        return;
      case 'cancel':
        if (!this.#children.cancel(outbound.id)) this.#commands.cancel(outbound.id);
        return;
      case 'visible':
        this.#pendingView = outbound;
        return;
      case 'answered':
        outbound.inbound.answered?.(outbound.answer);
        return;
      case 'complete':
        this.#outcome = { as: 'completed', output: outbound.output };
        return;
      case 'fail':
        this.#outcome = { as: 'failed', error: outbound.error };
        return;
      case 'cancelled':
        this.#outcome = { as: 'cancelled', ...omitUndefined({ reason: outbound.reason, details: outbound.details }) };
        return;
      case 'broken':
        this.#failInternally(outbound.error, outbound.event);
    }
  }

  /** After continue-as-new: sends the open commands again, timers with the time that is left. */
  #resumeCarried(at: number): void {
    this.#take({ type: 'carried', at });
    this.#children.adopt(openChildren(this.#state));
    this.#slots.requestSlots(wantedSlots(this.#state));
    // Memo and attributes were passed on, so this writes nothing. The current details were not.
    this.#pendingView = this.#currentView();
  }

  #currentView(): RunView {
    return { status: statusOf(this.#state), waitingFor: waitingFor(this.#state) };
  }

  #countsVotes(): boolean {
    return this.#currentView().waitingFor.some(({ votes }) => votes !== undefined);
  }

  #showDetails(): void {
    showDetails(this.#program, this.#state, this.#currentView(), this.#refused);
  }

  #show(shown: RunView): void {
    this.#pendingView = undefined;
    upsertVisibility(this.#program, this.#input, this.#state, shown, false);
    showDetails(this.#program, this.#state, shown, this.#refused);
    const { draining } = this.#state;
    if (draining?.decidedAt !== undefined)
      this.#reported ??= reportToParent(this.#input.notify, { output: draining.output });
  }

  async #conclude(outcome: Outcome): Promise<Json> {
    // A run that has ended sends nothing more.
    if (this.#children.inFlight > 0) await condition(() => this.#children.inFlight === 0);
    this.#slots.stop();
    if (this.#slots.inFlight > 0) await condition(() => this.#slots.inFlight === 0);
    await (this.#reported ?? reportToParent(this.#input.notify, reportOf(outcome)));
    const gates = limiterIds(this.#state);
    if (gates.length > 0) await releaseSlots(workflowInfo().workflowId, gates);
    const ended: RunView = { status: statusOf(this.#state), waitingFor: [] };
    upsertVisibility(this.#program, this.#input, this.#state, ended, true);
    showDetails(this.#program, this.#state, ended);
    if (outcome.as === 'completed') return outcome.output;
    // Temporal's event of a cancelled run has no field for the reason.
    if (outcome.as === 'cancelled' && outcome.reason !== undefined)
      upsertMemo({ [CANCEL_REASON]: outcome.reason, ...cancelDetails(outcome.details) });
    if (outcome.as === 'cancelled') endAsCancelled(outcome.reason);
    const { code, path } = outcome.error;
    // The SDK logs the failure too, but without its code.
    log.warn('The run failed.', { code, ...omitUndefined({ path }) });
    throw runFailure(outcome.error);
  }

  #mayContinue(): boolean {
    return this.#policy.shouldContinueAsNew(
      this.#commands.inFlight + this.#children.inFlight + this.#slots.inFlight,
      this.#runner.hasHeldCommands,
    );
  }

  async #continueAsNew(): Promise<void> {
    const { input: _given, presets: _set, ...rest } = this.#input;
    // Input and presets are in the state from here on.
    const next: RunInput = { ...rest, carried: serialize(this.#program, this.#state) };
    const bytes = jsonBytes(asJson(next));
    const limit = carriedLimitOf(this.#program.dataBytes());
    if (bytes > limit) {
      this.#runner.stop();
      this.#outcome = {
        as: 'failed',
        error: {
          code: 'state_too_large',
          message:
            `Definition and state have ${bytes} bytes; at most ${limit} can be carried on. ` +
            'Keep less in outputs and state.',
          retryable: false,
          details: { bytes, limit },
        },
      };
      return;
    }
    // Search attributes carry over by themselves; the memo does not (TEMPORAL.md §2).
    const { memo } = workflowInfo();
    await makeContinueAsNewFunc<typeof run>({ workflowType: RUN_WORKFLOW, ...omitUndefined({ memo }) })(next);
  }
}

function reportOf(outcome: Outcome): { output: Json } | { error: RunError } {
  if (outcome.as === 'completed') return { output: outcome.output };
  if (outcome.as === 'failed') return { error: outcome.error };
  const because = outcome.reason === undefined ? '' : ` (${outcome.reason})`;
  return {
    error: {
      code: 'child_cancelled',
      message: `The run that was waited for was cancelled${because}.`,
      retryable: false,
      ...omitUndefined({ details: outcome.details }),
    },
  };
}

/**
 * The query `steps`: the steps in the state. The trace has more, since the state drops outputs without references.
 *
 * `[{stepSlug, stepType, frame, status, output}]` for outputs, then `[{path, stepSlug, frame, status, startedAt}]` for
 * open visits: `waiting` for a person, a message or the clock, else `running`. `frame` is its id; the root's is empty.
 */
function stepsOf(state: RunState): Json {
  const ended: Json[] = [];
  const open: Json[] = [];
  for (const [frame, { entries, visit }] of Object.entries(state.frames)) {
    for (const [stepSlug, { stepType, output }] of Object.entries(entries)) {
      ended.push({ stepSlug, stepType, frame, status: 'completed', output: asJson(output) });
    }
    if (visit !== undefined) {
      open.push({
        path: visit.path,
        stepSlug: visit.slug,
        frame,
        status: visit.waiting === undefined ? 'running' : 'waiting',
        startedAt: new Date(visit.startedAt).toISOString(),
      });
    }
  }
  return [...ended, ...open];
}
