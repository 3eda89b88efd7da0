/**
 * The runs that this run has started (ARCHITECTURE.md §3). A child outlives its parent's continue-as-new, so Temporal
 * starts it as abandoned, and it reports by the signal `childDone`. A terminated run cannot report. So a parent asks
 * for the status of its open children when Temporal says that one has closed, after each continue-as-new, and every
 * hour.
 *
 * The fold finds all events of the core in history (E6): the activity that resolves the definition has the command's
 * id, and the activity `$children`, which asks for the status, answers events (src/engine/state/child-run.ts).
 */

import { CancellationScope, getExternalWorkflowHandle, sleep, workflowInfo } from '@temporalio/workflow';
import type { OpenChild } from '../../src/contract/run/children.ts';
import {
  CHILDREN_ACTIVITY_ID,
  CHILDREN_TIMER_ID,
  childRunId,
  endedChildren,
  parseResolvedWorkflow,
  type ResolvedWorkflow,
} from '../../src/engine/state/child-run.ts';
import { dataIn } from '../../src/engine/state/effect-results.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { asJson, isPlainObject, type Json } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { EffectResult } from '../../src/steps/kind.ts';
import { isMarked, lookupOptions, type Receiver, regularActivity } from './activities-and-timers.ts';
import { type ChildCommand, type Parent, startChildRun } from './child-start.ts';
import { failureFrom } from './failures.ts';

/** The pause between two questions for the status of open children. The memo `childCheckMs` overrides it. */
const CHILD_CHECK_MS = 3_600_000;
const CHILD_CHECK_MEMO = 'childCheckMs';
const MAX_ATTEMPTS = 10;

interface ChildrenOptions {
  readonly parent: Parent;
  /** The slug of this run's definition. */
  readonly workflow: string;
  /** Takes what has happened. Must not throw. */
  readonly receive: Receiver;
  /** An event of history came, although it may bring no event for the core. */
  readonly noteEvent: () => void;
  /** Children that are running and that the core waits for. */
  readonly open: () => readonly OpenChild[];
}

/** A child that is being started: this execution cannot end before it runs. */
interface StartingChild {
  cancelled: boolean;
  readonly resolving: CancellationScope;
}

export class Children {
  readonly #options: ChildrenOptions;
  readonly #shield = new CancellationScope({ cancellable: false });
  readonly #starting = new Map<string, StartingChild>();
  /** Children that run, by command id, until the core no longer waits for them. */
  readonly #running = new Map<string, string>();
  #inFlight = 0;
  #isChecking = false;
  #checkAgain = false;
  #isTimerRunning = false;

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  /** Starts, cancellations and questions in flight: they cannot be carried, and a run that ends waits for them. */
  get inFlight(): number {
    return this.#inFlight;
  }

  start(command: ChildCommand): void {
    const { id } = command;
    const starting: StartingChild = {
      cancelled: false,
      resolving: new CancellationScope({ cancellable: true, parent: this.#shield }),
    };
    this.#starting.set(id, starting);
    this.#inFlight++;
    const finish = (report: () => void): void => {
      this.#inFlight--;
      this.#options.noteEvent();
      this.#starting.delete(id);
      if (!starting.cancelled) report();
    };
    const failed = (error: unknown): void =>
      finish(() => this.#options.receive({ type: 'failed', at: Date.now(), id, error: failureFrom(error) }));
    starting.resolving
      .run(async () => {
        this.#resolve(command).then((result) => {
          const resolved = parseResolvedWorkflow(result);
          const report = (): void => this.#options.receive({ type: 'completed', at: Date.now(), id, result });
          if (starting.cancelled || resolved === undefined) {
            finish(report);
            return;
          }
          report();
          this.#begin(command, starting, resolved);
        }, failed);
      })
      .catch(failed);
  }

  /** Takes over children that run already, after continue-as-new. */
  adopt(children: readonly OpenChild[]): void {
    if (children.length === 0) return;
    for (const { id, executionId } of children) this.#running.set(id, executionId);
    this.#checkStatus();
    this.#startTimer();
  }

  /** Cancels a child that the core no longer waits for. False where the command started no child. */
  cancel(id: string): boolean {
    const starting = this.#starting.get(id);
    if (starting !== undefined) {
      starting.cancelled = true;
      starting.resolving.cancel();
      return true;
    }
    const executionId = this.#running.get(id);
    if (executionId === undefined) return false;
    this.#running.delete(id);
    this.#cancelRun(executionId);
    return true;
  }

  #begin(command: ChildCommand, starting: StartingChild, resolved: ResolvedWorkflow): void {
    const { id, executionId } = command;
    const { receive } = this.#options;
    const started = (known: boolean): void => {
      this.#inFlight--;
      this.#options.noteEvent();
      this.#starting.delete(id);
      if (starting.cancelled) {
        this.#cancelRun(executionId);
        return;
      }
      if (command.wait !== false) this.#running.set(id, executionId);
      receive({ type: 'childStarted', at: Date.now(), id });
      if (command.wait === false) return;
      if (known) this.#checkStatus();
      this.#startTimer();
    };
    this.#shield
      .run(() => startChildRun(this.#options.parent, command, resolved))
      .then(
        (child) => {
          started(false);
          // A child that has reported is no longer open; a terminated one is.
          const closed = (): void => {
            if (this.#options.open().some((one) => one.id === id)) this.#checkStatus();
          };
          child.result().then(closed, closed);
        },
        // An earlier execution of this run has started it.
        () => started(true),
      );
  }

  #resolve({ id, workflow, version, employee, input }: ChildCommand): Promise<EffectResult> {
    const config: Json = {
      workflow,
      ...omitUndefined({ version, employee }),
      ...(isMarked('inputs') ? { input } : { inputBytes: jsonBytes(input) }),
    };
    return this.#call('resolveWorkflow', id, config);
  }

  #call(activity: string, id: string, config: Json): Promise<EffectResult> {
    const { parent, workflow } = this.#options;
    return regularActivity(
      activity,
      lookupOptions(id, MAX_ATTEMPTS),
    )({
      config,
      secrets: [],
      idempotencyKey: `${parent.executionId}/${id}`,
      path: id,
      stepSlug: id,
      execution: { id: parent.executionId, workflow, organizationId: parent.organizationId },
    });
  }

  #cancelRun(executionId: string): void {
    this.#inFlight++;
    const done = (): void => {
      this.#inFlight--;
      this.#options.noteEvent();
    };
    // Fails where the child has ended meanwhile, which is as good.
    this.#shield.run(() => getExternalWorkflowHandle(executionId).cancel()).then(done, done);
  }

  /** Asks for the status of the children that are still open. */
  #checkStatus(): void {
    if (this.#isChecking) {
      this.#checkAgain = true;
      return;
    }
    const children = this.#options.open();
    if (children.length === 0) return;
    this.#isChecking = true;
    this.#inFlight++;
    const answered = (result?: EffectResult): void => {
      const data = dataIn(result);
      this.#inFlight--;
      this.#options.noteEvent();
      this.#isChecking = false;
      for (const { id } of endedChildren(data)) this.#running.delete(id);
      this.#options.receive({ type: 'completed', at: Date.now(), id: CHILDREN_ACTIVITY_ID, result });
      const again = this.#checkAgain || (isPlainObject(data) && data['more'] === true);
      this.#checkAgain = false;
      if (again) this.#checkStatus();
    };
    this.#shield
      .run(() => this.#call('describeChildren', CHILDREN_ACTIVITY_ID, { children: asJson(children) }))
      // A question that failed is asked again in an hour.
      .then(answered, () => answered());
  }

  /** One timer for all children. It is started again while there are children. */
  #startTimer(): void {
    if (this.#isTimerRunning) return;
    this.#isTimerRunning = true;
    const timerFired = (): void => {
      this.#isTimerRunning = false;
      if (this.#options.open().length === 0) return;
      this.#checkStatus();
      this.#startTimer();
    };
    this.#shield.run(() => sleep(checkMs(), { summary: CHILDREN_TIMER_ID })).then(timerFired, () => undefined);
  }
}

/** The memo is part of history, so a replay uses the same pause. */
function checkMs(): number {
  const overrideMs = workflowInfo().memo?.[CHILD_CHECK_MEMO];
  return typeof overrideMs === 'number' && overrideMs >= 1 ? overrideMs : CHILD_CHECK_MS;
}

/** Children that are running and that this run waits for. */
export function openChildren(state: RunState): OpenChild[] {
  return Object.entries(state.openCommands).flatMap(([id, open]) =>
    open.type === 'child' && open.started === true
      ? [{ id, executionId: childRunId(state.genesis, id, open.child.workflow) }]
      : [],
  );
}
