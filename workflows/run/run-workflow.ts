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
import { dataBytesOf } from '../../src/contract/build-id.ts';
import {
  type Accepted,
  CANCEL_REASON,
  type Recorded,
  type Refusal,
  RUN_WORKFLOW,
  type RunError,
  type RunInput,
} from '../../src/contract/run.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { admit, advance, genesis } from '../../src/engine/advance.ts';
import { heldGates, wantedSlots } from '../../src/engine/inbound/admission.ts';
import { inboxOf, pausedSince, recordedAt, statusOf, waitingFor } from '../../src/engine/inbound/view.ts';
import { resumedAt } from '../../src/engine/resume/rewind.ts';
import { carriedLimitOf } from '../../src/engine/state/limits.ts';
import type { Command, Event } from '../../src/engine/state/protocol.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import { genesisOf, runInputOf } from '../../src/engine/state/start.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { defined } from '../../src/json/defined.ts';
import { asJson, type Json, type JsonObject } from '../../src/json/json.ts';
import { compile } from '../../src/steps/compile/program.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { ActivitiesAndTimers, isMarked } from './activities-and-timers.ts';
import { cancelDetails, endAsCancelled } from './cancelled.ts';
import { Children } from './children.ts';
import { ContinueAsNewPolicy } from './continue-as-new-policy.ts';
import type { RefusedRequest } from './current-details.ts';
import { internalError, invalidDefinition, runFailure } from './failures.ts';
import { answerQueries, answerUpdates, listenToSignals } from './message-handlers.ts';
import { openChildren, openCommands } from './open-commands.ts';
import { reportToParent } from './parent-report.ts';
import { Segments } from './segments.ts';
import { releaseSlots, Slots } from './slots.ts';
import { stepsOf } from './steps-query.ts';
import { type Shown, showDetails, showInLists } from './visibility.ts';

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
  const execution = new RunExecution(compiled(input.definition), input);
  execution.onCancellation(CancellationScope.current());
  // The core decides what a cancellation ends, so Temporal cancels nothing below by itself.
  return CancellationScope.nonCancellable(() => execution.end());
}

/** Bytes that this task's worker lets a run hold. */
const dataBytes = (): number => dataBytesOf(workflowInfo().currentDeploymentVersion?.buildId);

function compiled(definition: Definition): Program {
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

type Outcome =
  | { readonly as: 'completed'; readonly output: Json }
  | { readonly as: 'failed'; readonly error: RunError }
  | { readonly as: 'cancelled'; readonly reason?: string; readonly details?: JsonObject };

/** One execution of a run: from its start, or from where the last one continued as new, to its end or the next. */
class RunExecution {
  readonly #program: Program;
  readonly #input: RunInput;
  readonly #state: RunState;
  readonly #commands: ActivitiesAndTimers;
  readonly #segments: Segments;
  readonly #children: Children;
  readonly #slots: Slots;
  readonly #policy = new ContinueAsNewPolicy();
  /**
   * Commands that were held back (ContinueAsNewPolicy). They are open in the state, so the next execution sends them.
   */
  readonly #held = new Map<string, Command>();
  #outcome: Outcome | undefined;
  #toShow: Shown | undefined;
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
    else this.#state = resumedAt(program, restore(input.carried), start.startedAt);
    const { organizationId } = this.#state.genesis;
    const { hash, inline } = input;
    const execution = {
      id: workflowId,
      workflow: program.definition.slug,
      organizationId,
      definition: defined({ hash, inline }),
    };
    const receive = (event: Event): void => {
      if (event.type === 'continue') this.#policy.noteEvent();
      else this.#policy.noteOutsideEvent();
      this.#segments.whenFree(() => this.#apply(event));
    };
    this.#commands = new ActivitiesAndTimers(execution, receive, (slug) => program.steps.get(slug)?.name);
    this.#segments = new Segments({
      program,
      state: this.#state,
      mayBegin: () => isMarked('segments') && !this.#policy.holds(),
      measures: () => isMarked('segments2'),
      now: () => Date.now(),
      run: (config, first, ended) => this.#commands.segment(config, first, ended),
      goesOn: (command, failure, askedMs) => this.#commands.goesOn(command, failure, askedMs),
      noteEnd: () => this.#policy.noteOutsideEvent(),
      apply: (event) => this.#apply(event),
      perform: (command) => this.#perform(command),
    });
    const receiveNew = (event: Event): void => {
      this.#commands.noteEvent();
      receive(event);
    };
    this.#slots = new Slots({ execution, receive: receiveNew, wanted: () => wantedSlots(this.#state) });
    this.#children = new Children({
      parent: {
        executionId: workflowId,
        organizationId,
        depth: this.#state.genesis.depth,
        within: [...(input.within ?? []), ...heldGates(this.#state)],
        ...defined({ initiator: input.initiator, requesters: input.requesters }),
      },
      workflow: program.definition.slug,
      receive: receiveNew,
      noteEvent: () => this.#policy.noteEvent(),
      open: () => openChildren(this.#state),
    });
  }

  /** `root`: the scope that Temporal cancels. */
  onCancellation(root: CancellationScope): void {
    root.cancelRequested.catch(() => {
      this.#policy.close();
      this.#commands.noteEvent();
      this.#release();
      const event: Event = { type: 'cancel', at: Date.now() };
      this.#segments.whenFree(() => this.#apply(event));
      this.#commands.hurry();
    });
  }

  /** Walks to the end, or to the next execution. */
  async end(): Promise<Json> {
    if (this.#input.carried === undefined) this.#apply({ type: 'started', at: Date.now() });
    else this.#sendOpenCommands();
    this.#listen();
    for (;;) {
      await condition(() => this.#outcome !== undefined || this.#toShow !== undefined || this.#mayContinue());
      // An update that was accepted is answered before the run ends or continues.
      if (!allHandlersFinished()) await condition(allHandlersFinished);
      if (this.#outcome !== undefined) return await this.#conclude(this.#outcome);
      if (this.#toShow !== undefined) this.#show(this.#toShow);
      if (this.#mayContinue()) await this.#continueAsNew();
    }
  }

  #listen(): void {
    const noted = (): void => {
      this.#policy.noteOutsideEvent();
      this.#commands.noteEvent();
    };
    const run = {
      take: (event: Event): void => {
        // An event that waited for a segment was noted when it came.
        if (!this.#segments.isApplied) noted();
        this.#apply(event);
      },
      whenFree: (act: () => void, event: Event): void => {
        if (this.#segments.isOpen) noted();
        this.#segments.whenFree(act);
        if (event.type === 'abort' || event.type === 'cancel') this.#commands.hurry();
      },
      isFree: (): boolean => !this.#segments.isOpen,
      admit: (event: Event): Accepted | Refusal => admit(this.#program, this.#state, event),
      recorded: (path: string): Recorded => recordedAt(this.#state, path),
      ignored: (signal: string, message: string): void => {
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
  #apply(event: Event): void {
    if (this.#outcome !== undefined) return;
    const { paused, droppedCount: dropped } = this.#state;
    try {
      const commands = advance(this.#program, this.#state, event);
      for (const command of this.#segments.takeFrom(commands)) this.#perform(command);
    } catch (error) {
      log.error('The core failed.', { error: String(error), event: event.type });
      this.#outcome = { as: 'failed', error: internalError(error) };
    }
    // Each vote of a person changes the lists. Votes of nobody in particular are shown here.
    if (event.type === 'decide' && this.#toShow === undefined && this.#countsVotes()) this.#toShow = this.#standing();
    if (this.#state.droppedCount !== dropped) {
      this.#showDetails();
      // Only the first: each more would be an event of history. Lists get the number when the run is shown next.
      if (dropped === undefined) this.#toShow ??= this.#standing();
    }
    if (this.#state.paused === paused) return;
    this.#showDetails();
    this.#toShow = this.#standing();
  }

  #perform(command: Command): void {
    switch (command.type) {
      case 'run':
      case 'yield':
      case 'child':
        if (this.#policy.holds()) this.#held.set('id' in command ? command.id : command.type, command);
        else this.#begin(command);
        return;
      case 'timer':
        this.#commands.timer(command.id, command.at);
        return;
      case 'cancel':
        if (!this.#held.delete(command.id) && !this.#children.cancel(command.id)) this.#commands.cancel(command.id);
        return;
      case 'visible':
        this.#toShow = command;
        return;
      case 'complete':
        this.#outcome = { as: 'completed', output: command.output };
        return;
      case 'fail':
        this.#outcome = { as: 'failed', error: command.error };
        return;
      case 'slots':
        this.#slots.ask(command.gates);
        return;
      case 'cancelled':
        this.#outcome = {
          as: 'cancelled',
          ...defined({ reason: command.reason, details: command.details }),
        };
    }
  }

  #begin(command: Command): void {
    switch (command.type) {
      case 'run':
        this.#commands.activity(command);
        return;
      case 'yield':
        this.#commands.yieldTask();
        return;
      case 'timer':
        this.#commands.timer(command.id, command.at);
        return;
      case 'child':
        this.#children.start(command);
        return;
      default:
        return;
    }
  }

  /** After continue-as-new: sends the open commands again, timers with the time that is left. */
  #sendOpenCommands(): void {
    for (const command of this.#segments.takeFrom(openCommands(this.#state))) this.#begin(command);
    this.#children.adopt(openChildren(this.#state));
    this.#slots.ask(wantedSlots(this.#state));
    // Memo and attributes were passed on, so this writes nothing. The current details were not.
    this.#toShow = this.#standing();
  }

  #standing(): Shown {
    return { status: statusOf(this.#state), waitingFor: waitingFor(this.#state) };
  }

  #countsVotes(): boolean {
    return this.#standing().waitingFor.some(({ votes }) => votes !== undefined);
  }

  #showDetails(): void {
    showDetails(this.#program, this.#state, this.#standing(), this.#refused);
  }

  #release(): void {
    const held = [...this.#held.values()];
    this.#held.clear();
    for (const command of held) this.#begin(command);
  }

  #show(shown: Shown): void {
    this.#toShow = undefined;
    showInLists(this.#program, this.#input, this.#state, shown, false);
    showDetails(this.#program, this.#state, shown, this.#refused);
    const { draining } = this.#state;
    if (draining?.decidedAt !== undefined)
      this.#reported ??= reportToParent(this.#input.notify, { output: draining.output });
  }

  async #conclude(outcome: Outcome): Promise<Json> {
    // A run that has ended sends nothing more.
    if (this.#children.underway > 0) await condition(() => this.#children.underway === 0);
    this.#slots.stop();
    if (this.#slots.underway > 0) await condition(() => this.#slots.underway === 0);
    await (this.#reported ?? reportToParent(this.#input.notify, reportOf(outcome)));
    const gates = heldGates(this.#state);
    if (gates.length > 0) await releaseSlots(workflowInfo().workflowId, gates);
    const ended: Shown = { status: statusOf(this.#state), waitingFor: [] };
    showInLists(this.#program, this.#input, this.#state, ended, true);
    showDetails(this.#program, this.#state, ended);
    if (outcome.as === 'completed') return outcome.output;
    // Temporal's event of a cancelled run has no field for the reason.
    if (outcome.as === 'cancelled' && outcome.reason !== undefined)
      upsertMemo({ [CANCEL_REASON]: outcome.reason, ...cancelDetails(outcome.details) });
    if (outcome.as === 'cancelled') endAsCancelled(outcome.reason);
    const { code, path } = outcome.error;
    // The SDK logs the failure too, but without its code.
    log.warn('The run failed.', { code, ...defined({ path }) });
    throw runFailure(outcome.error);
  }

  #mayContinue(): boolean {
    return this.#policy.reached(
      this.#commands.inFlight + this.#children.underway + this.#slots.underway,
      this.#held.size > 0,
    );
  }

  async #continueAsNew(): Promise<void> {
    const { input: _given, presets: _set, ...rest } = this.#input;
    // Input and presets are in the state from here on.
    const next: RunInput = { ...rest, carried: serialize(this.#program, this.#state) };
    const bytes = jsonBytes(asJson(next));
    const limit = carriedLimitOf(this.#program.dataBytes());
    if (bytes > limit) {
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
    await makeContinueAsNewFunc<typeof run>({ workflowType: RUN_WORKFLOW, ...defined({ memo }) })(next);
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
      ...defined({ details: outcome.details }),
    },
  };
}
