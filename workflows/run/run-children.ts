/**
 * The runs that this run has started (ARCHITECTURE.md §3). A child outlives its parent's continue-as-new, so it is abandoned by
 * Temporal and reports by the signal `childDone`. A run that was terminated cannot report, so a parent looks after its open
 * children: when Temporal says that one has closed, after each continue-as-new, and every hour.
 *
 * What the core is told stands in history for the fold to find (E6): the resolving activity has the command's id, and the
 * looking after is an activity called `$children` whose answer is the events (child-run.ts).
 */

import {
  CancellationScope,
  getExternalWorkflowHandle,
  proxyActivities,
  type RetryPolicy,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActivityInput } from '../../src/contract/activity.ts';
import type { OpenChild } from '../../src/contract/children.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { CHILDREN, CHILDREN_CLOCK, childEvents } from '../../src/engine/state/child-run.ts';
import type { Event } from '../../src/engine/state/protocol.ts';
import { jsonBytes } from '../../src/json/bytes.ts';
import { defined } from '../../src/json/defined.ts';
import type { Json } from '../../src/json/json.ts';
import type { EffectResult } from '../../src/steps/kind.ts';
import { type ChildCommand, type Parent, startRun } from './run-child-start.ts';
import { failureFrom } from './run-failure.ts';

/** How often a parent looks after children that it has heard nothing of. The memo `childCheckMs` says otherwise. */
const CHILD_CHECK_MS = 3_600_000;
const CHILD_CHECK_MEMO = 'childCheckMs';
const ATTEMPT_MS = 30_000;
const RETRY: RetryPolicy = {
  maximumAttempts: 10,
  initialInterval: 500,
  backoffCoefficient: 2,
  maximumInterval: 30_000,
};

type Call = (input: ActivityInput) => Promise<EffectResult>;

export interface ChildrenOptions {
  readonly parent: Parent;
  /** The slug of this run's definition. */
  readonly workflow: string;
  /** Takes an event. Must not throw. */
  readonly receive: (event: Event) => void;
  /** Something that history has came, although the core may hear nothing of it. */
  readonly came: () => void;
  /** Children that the core waits for, and that run. */
  readonly open: () => readonly OpenChild[];
}

/** A child on its way: until it runs, this execution cannot end. */
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

  /** What cannot be carried to the next execution, and what a run that ends waits for: starts, cancels, questions. */
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
      this.#options.came();
      this.#starting.delete(id);
      if (!starting.cancelled) tell();
    };
    const failed = (error: unknown): void =>
      gone(() => this.#options.receive({ type: 'failed', at: Date.now(), id, error: failureFrom(error) }));
    starting.resolving
      .run(async () => {
        this.#resolve(command).then((result) => {
          if (starting.cancelled) gone(() => undefined);
          else this.#begin(command, starting, result);
        }, failed);
      })
      .catch(failed);
  }

  /** After continue-as-new: these run already. */
  adopt(children: readonly OpenChild[]): void {
    if (children.length === 0) return;
    for (const { id, executionId } of children) this.#running.set(id, executionId);
    this.#ask();
    this.#watch();
  }

  /** The core no longer waits for it: it is cancelled. False where the command is none of a child's. */
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

  #begin(command: ChildCommand, starting: Starting, result: EffectResult): void {
    const { id, executionId } = command;
    const { receive } = this.#options;
    const { definition, hash } = result.data as unknown as { definition: Definition; hash: string };
    // History has the activity's end, and the core's clock goes by it; what it says is for the child alone.
    receive({ type: 'completed', at: Date.now(), id, result: { data: null } });
    const begun = (known: boolean): void => {
      this.#underway--;
      this.#options.came();
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
      .run(() => startRun(this.#options.parent, command, definition, hash))
      .then(
        (child) => {
          begun(false);
          // One that has reported is no longer open; one that was terminated is.
          const closed = (): void => {
            if (this.#options.open().some((one) => one.id === id)) this.#ask();
          };
          child.result().then(closed, closed);
        },
        // It runs already, or has ended: an earlier execution of this run started it.
        () => begun(true),
      );
  }

  #resolve({ id, workflow, version, employee, input }: ChildCommand): Promise<EffectResult> {
    const config: Json = {
      workflow,
      ...defined({ version, employee }),
      inputBytes: jsonBytes(input),
    };
    return this.#call('resolveWorkflow', id, config);
  }

  #call(activity: string, id: string, config: Json): Promise<EffectResult> {
    const { parent, workflow } = this.#options;
    const calls = proxyActivities<{ [name: string]: Call }>({
      activityId: id,
      summary: id,
      startToCloseTimeout: ATTEMPT_MS,
      retry: RETRY,
      cancellationType: 'TRY_CANCEL',
    });
    const call = calls[activity];
    // The proxy has every name; this is for the type.
    if (call === undefined) throw new TypeError(`There is no activity '${activity}'.`);
    return call({
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
      this.#options.came();
    };
    // A child that has ended meanwhile cannot be cancelled, and need not be.
    this.#shield.run(() => getExternalWorkflowHandle(executionId).cancel()).then(done, done);
  }

  /** Asks what has become of the children that are still open. */
  #ask(): void {
    if (this.#asking) {
      this.#askAgain = true;
      return;
    }
    const children = this.#options.open();
    if (children.length === 0) return;
    this.#asking = true;
    this.#underway++;
    const answered = (data: Json | undefined): void => {
      this.#underway--;
      this.#options.came();
      this.#asking = false;
      for (const event of childEvents(data, Date.now())) {
        if (event.type === 'childDone') this.#running.delete(event.id);
        this.#options.receive(event);
      }
      const again = this.#askAgain || (data as { more?: boolean } | undefined)?.more === true;
      this.#askAgain = false;
      if (again) this.#ask();
    };
    this.#shield
      .run(() => this.#call('describeChildren', CHILDREN, { children: children as unknown as Json }))
      // What could not be asked now is asked in an hour.
      .then(
        (result) => answered(result.data),
        () => answered(undefined),
      );
  }

  /** One clock for all: it runs on while there are children. */
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

/** The memo is part of history, so a replay waits as long. */
function checkMs(): number {
  const given = workflowInfo().memo?.[CHILD_CHECK_MEMO];
  return typeof given === 'number' && given >= 1 ? given : CHILD_CHECK_MS;
}
