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
import type { OpenChild } from '../../src/contract/children.ts';
import {
  CHILDREN,
  CHILDREN_CLOCK,
  childRunId,
  endedChildren,
  type ResolvedWorkflow,
  resolvedIn,
} from '../../src/engine/state/child-run.ts';
import { dataIn } from '../../src/engine/state/effect-results.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { defined } from '../../src/json/defined.ts';
import { asJson, isPlainObject, type Json } from '../../src/json/json.ts';
import type { EffectResult } from '../../src/steps/kind.ts';
import { askingOptions, isMarked, type Receiver, regular } from './activities-and-timers.ts';
import { type ChildCommand, type Parent, startRun } from './child-start.ts';
import { failureFrom } from './failures.ts';

/** The pause between two questions for the status of open children. The memo `childCheckMs` overrides it. */
const CHILD_CHECK_MS = 3_600_000;
const CHILD_CHECK_MEMO = 'childCheckMs';
const MOST_ATTEMPTS = 10;

export interface ChildrenOptions {
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
interface Starting {
  cancelled: boolean;
  readonly resolving: CancellationScope;
}

export class Children {
  readonly #options: ChildrenOptions;
  readonly #shield = new CancellationScope({ cancellable: false });
  readonly #starting = new Map<string, Starting>();
  /** Children that run, by command id, until the core no longer waits for them. */
  readonly #running = new Map<string, string>();
  #underway = 0;
  #asking = false;
  #askAgain = false;
  #clockRuns = false;

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  /** Starts, cancellations and questions in flight: they cannot be carried, and a run that ends waits for them. */
  get underway(): number {
    return this.#underway;
  }

  start(command: ChildCommand): void {
    const { id } = command;
    const starting: Starting = {
      cancelled: false,
      resolving: new CancellationScope({ cancellable: true, parent: this.#shield }),
    };
    this.#starting.set(id, starting);
    this.#underway++;
    const gone = (tell: () => void): void => {
      this.#underway--;
      this.#options.noteEvent();
      this.#starting.delete(id);
      if (!starting.cancelled) tell();
    };
    const failed = (error: unknown): void =>
      gone(() => this.#options.receive({ type: 'failed', at: Date.now(), id, error: failureFrom(error) }));
    starting.resolving
      .run(async () => {
        this.#resolve(command).then((result) => {
          const resolved = resolvedIn(result);
          const tell = (): void => this.#options.receive({ type: 'completed', at: Date.now(), id, result });
          if (starting.cancelled || resolved === undefined) {
            gone(tell);
            return;
          }
          tell();
          this.#begin(command, starting, resolved);
        }, failed);
      })
      .catch(failed);
  }

  /** Takes over children that run already, after continue-as-new. */
  adopt(children: readonly OpenChild[]): void {
    if (children.length === 0) return;
    for (const { id, executionId } of children) this.#running.set(id, executionId);
    this.#ask();
    this.#watch();
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

  #begin(command: ChildCommand, starting: Starting, resolved: ResolvedWorkflow): void {
    const { id, executionId } = command;
    const { receive } = this.#options;
    const begun = (known: boolean): void => {
      this.#underway--;
      this.#options.noteEvent();
      this.#starting.delete(id);
      if (starting.cancelled) {
        this.#cancelRun(executionId);
        return;
      }
      if (command.wait !== false) this.#running.set(id, executionId);
      receive({ type: 'childStarted', at: Date.now(), id });
      if (command.wait === false) return;
      if (known) this.#ask();
      this.#watch();
    };
    this.#shield
      .run(() => startRun(this.#options.parent, command, resolved))
      .then(
        (child) => {
          begun(false);
          // A child that has reported is no longer open; a terminated one is.
          const closed = (): void => {
            if (this.#options.open().some((one) => one.id === id)) this.#ask();
          };
          child.result().then(closed, closed);
        },
        // An earlier execution of this run has started it.
        () => begun(true),
      );
  }

  #resolve({ id, workflow, version, employee, input }: ChildCommand): Promise<EffectResult> {
    const config: Json = {
      workflow,
      ...defined({ version, employee }),
      ...(isMarked('inputs') ? { input } : { inputBytes: jsonBytes(input) }),
    };
    return this.#call('resolveWorkflow', id, config);
  }

  #call(activity: string, id: string, config: Json): Promise<EffectResult> {
    const { parent, workflow } = this.#options;
    return regular(
      activity,
      askingOptions(id, MOST_ATTEMPTS),
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
    this.#underway++;
    const done = (): void => {
      this.#underway--;
      this.#options.noteEvent();
    };
    // Fails where the child has ended meanwhile, which is as good.
    this.#shield.run(() => getExternalWorkflowHandle(executionId).cancel()).then(done, done);
  }

  /** Asks for the status of the children that are still open. */
  #ask(): void {
    if (this.#asking) {
      this.#askAgain = true;
      return;
    }
    const children = this.#options.open();
    if (children.length === 0) return;
    this.#asking = true;
    this.#underway++;
    const answered = (result?: EffectResult): void => {
      const data = dataIn(result);
      this.#underway--;
      this.#options.noteEvent();
      this.#asking = false;
      for (const { id } of endedChildren(data)) this.#running.delete(id);
      this.#options.receive({ type: 'completed', at: Date.now(), id: CHILDREN, result });
      const again = this.#askAgain || (isPlainObject(data) && data['more'] === true);
      this.#askAgain = false;
      if (again) this.#ask();
    };
    this.#shield
      .run(() => this.#call('describeChildren', CHILDREN, { children: asJson(children) }))
      // A question that failed is asked again in an hour.
      .then(answered, () => answered());
  }

  /** One timer for all children. It is started again while there are children. */
  #watch(): void {
    if (this.#clockRuns) return;
    this.#clockRuns = true;
    const rang = (): void => {
      this.#clockRuns = false;
      if (this.#options.open().length === 0) return;
      this.#ask();
      this.#watch();
    };
    this.#shield.run(() => sleep(checkMs(), { summary: CHILDREN_CLOCK })).then(rang, () => undefined);
  }
}

/** The memo is part of history, so a replay uses the same pause. */
function checkMs(): number {
  const given = workflowInfo().memo?.[CHILD_CHECK_MEMO];
  return typeof given === 'number' && given >= 1 ? given : CHILD_CHECK_MS;
}

/** Children that are running and that this run waits for. */
export function openChildren(state: RunState): OpenChild[] {
  return Object.entries(state.openCommands).flatMap(([id, open]) =>
    open.type === 'child' && open.started === true
      ? [{ id, executionId: childRunId(state.genesis, id, open.child.workflow) }]
      : [],
  );
}
