/**
 * A small model of Temporal: it runs a definition live with the core, hands events over in workflow tasks as the SDK
 * does, and writes the history that the server would. The fold never sees the model, only that history.
 */

import { buildIdOf, hasMark, MARKS } from '../../src/contract/build-id.ts';
import { SEGMENT_ACTIVITY_ID } from '../../src/contract/run/activity.ts';
import type { RunError, RunInput } from '../../src/contract/run/run.ts';
import { MAX_STATE_BYTES } from '../../src/definition/document/limits.ts';
import type { Definition } from '../../src/definition/document/types.ts';
import { genesis } from '../../src/engine/advance.ts';
import { toEvent, updateToEvent } from '../../src/engine/inbound/signals.ts';
import { type Inbound, Runner, segmentConfig } from '../../src/engine/runner.ts';
import {
  failedEnd,
  failedSegment,
  type SegmentConfig,
  type SegmentEffectEnd,
  SegmentWalk,
} from '../../src/engine/segment.ts';
import { CHILDREN_ACTIVITY_ID, parseResolvedWorkflow } from '../../src/engine/state/child-run.ts';
import { type FailureCause, failureOfCause } from '../../src/engine/state/failure-causes.ts';
import type { Command, RunCommand, TraceEvent } from '../../src/engine/state/protocol.ts';
import { restore, serialize } from '../../src/engine/state/serialize.ts';
import { genesisOf, runInputOf } from '../../src/engine/state/start.ts';
import type { RunState } from '../../src/engine/state/state.ts';
import type { HistoryEvent } from '../../src/history/events.ts';
import type { Json } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type { EffectResult } from '../../src/steps/kind.ts';
import type { Program } from '../../src/steps/program-types.ts';
import { programOf } from '../support/program.ts';

const YIELD = '$yield';
/** Of a worker that runs segments. */
const STAMP = { historyLimit: 1_000, dataBytes: MAX_STATE_BYTES };
const BUILD_ID = buildIdOf(STAMP);
const WITHOUT_SEGMENTS = buildIdOf(
  STAMP,
  MARKS.filter((mark) => !mark.startsWith('segments')),
);
const REFUSED = {
  kind: 'application',
  type: 'http_status',
  message: 'No.',
  details: [{ retryable: true }],
} as const;
export const WORKFLOW_ID = 'run.default.model.1';

/** What has come for the workflow and waits for its next task, in order of arrival. */
type Job =
  | { readonly as: 'request'; readonly take: (at: number) => void }
  | { readonly as: 'other'; readonly take: (at: number) => void };

/** What the shell asks for besides the core's commands. */
type Issue =
  | Command
  | { readonly type: 'initiate'; readonly id: string; readonly executionId: string }
  | { readonly type: 'ask' }
  | { readonly type: 'segment'; readonly segment: OpenSegment };

/** How a segment goes: whether it is local, after how many ends it stops, and which of its effects fail. */
export interface SegmentPlan {
  readonly local: boolean;
  readonly ends: number;
  readonly fails: readonly boolean[];
}

interface OpenSegment {
  readonly config: SegmentConfig;
  readonly plan: SegmentPlan;
}

interface OpenTask {
  readonly id: string;
  readonly openedBy: number;
  /** Set by the core's cancel: the shell drops the answer. */
  cancelled: boolean;
  readonly at?: number;
  readonly child?: Extract<Command, { type: 'child' }>;
  readonly segment?: OpenSegment;
}

type Unnumbered<E> = E extends HistoryEvent ? Omit<E, 'id' | 'time'> : never;

export class Model {
  readonly program: Program;
  state: RunState;
  /** One history for each run of the chain. */
  readonly histories: HistoryEvent[][] = [];
  readonly trace: TraceEvent[] = [];
  clock = 1_000_000;
  #events: HistoryEvent[] = [];
  #jobs: Job[] = [];
  #activities: OpenTask[] = [];
  #timers: OpenTask[] = [];
  /** Children that have been asked for, and those that run. */
  #initiated: OpenTask[] = [];
  #running: string[] = [];
  /** Commands of the task in hand. */
  #commands: Issue[] = [];
  #accepted: Unnumbered<HistoryEvent>[] = [];
  #begun = false;
  readonly #input: RunInput;
  /** One for each segment, in turn. Without plans there are no segments. */
  readonly #plans: readonly SegmentPlan[];
  /** Of the worker that runs it, which the history names. */
  readonly #buildId: string;
  #planned = 0;
  #runner!: Runner;
  #localSegment: OpenSegment | undefined;
  #hadLocalSegment = false;

  constructor(definition: Definition, input: RunInput['input'] = {}, plans: readonly SegmentPlan[] = []) {
    this.#buildId = plans.length === 0 ? WITHOUT_SEGMENTS : BUILD_ID;
    this.program = programOf(definition, { isMarked: (mark) => hasMark(this.#buildId, mark) });
    this.#input = { definition, input: input ?? {}, ...(plans.length === 0 ? {} : { light: ['test.light'] }) };
    this.#plans = plans;
    this.state = this.#open(this.#input);
  }

  get ended(): boolean {
    return this.state.ending !== undefined;
  }
  get openTimers(): number {
    return this.#timers.length;
  }
  get openActivities(): number {
    return this.#activities.length;
  }
  get openChildren(): number {
    return this.#initiated.length + this.#running.length;
  }

  advanceClock(ms: number): void {
    this.clock += ms;
  }

  signal(name: string, payload: unknown): void {
    this.#write({ type: 'signal', name, payload });
    this.#jobs.push({
      as: 'request',
      take: (at) => {
        const event = toEvent(name, payload, at);
        if (event !== undefined) this.#take({ type: 'message', as: 'signal', at, event });
      },
    });
  }

  /** Not in the first task of a run: there updates wait for their handlers (see the fold's own test of that). */
  update(name: string, payload: unknown): void {
    if (!this.#begun) return;
    const sequencingId = this.#events.length;
    const updateId = `update-${this.clock}-${this.#jobs.length}`;
    this.#jobs.push({
      as: 'request',
      take: (at) => {
        const event = updateToEvent(name, payload, at);
        if (event === undefined) return;
        if (this.#runner.hasNoSegment && !('accepted' in this.#runner.admits(event))) return;
        this.#accepted.push({ type: 'updateAccepted', sequencingId, updateId, name, payload });
        this.#take({ type: 'message', as: 'update', at, event });
      },
    });
  }

  cancel(): void {
    this.#write({ type: 'cancelRequested' });
    this.#jobs.push({ as: 'other', take: (at) => this.#take({ type: 'cancelRequested', at }) });
  }

  completeActivity(n: number, result: EffectResult = { data: { n } }): void {
    const [task] = this.#activities.splice(n % this.#activities.length, 1);
    if (task === undefined) return;
    if (task.segment !== undefined) {
      this.#endSegment(task, task.segment);
      return;
    }
    const given =
      task.id === CHILDREN_ACTIVITY_ID
        ? { data: { ended: this.#terminatedChildren() } as unknown as Json }
        : task.child === undefined
          ? this.#resultOf(n, result)
          : this.#resultOf(n, { data: { definition: { steps: {} }, hash: 'sha256:child' } });
    this.#write({ type: 'activityStarted', scheduledId: task.openedBy, attempt: 1 });
    this.#write({ type: 'activityCompleted', scheduledId: task.openedBy, result: given });
    this.#jobs.push({ as: 'other', take: (at) => this.#completed(task, given, at) });
  }

  /** Now and then somebody completes the activity by hand, with a result of another form. */
  #resultOf(n: number, result: EffectResult): EffectResult {
    return this.#plans.length > 0 && n % 7 === 6 ? ({ n } as unknown as EffectResult) : result;
  }

  #completed({ id, cancelled, child }: OpenTask, result: EffectResult, at: number): void {
    if (cancelled) return;
    this.#take({ type: 'completed', at, id, result });
    if (id === CHILDREN_ACTIVITY_ID) this.#afterChildrenCheck();
    if (child !== undefined && parseResolvedWorkflow(result) !== undefined && !this.ended)
      this.#commands.push({ ...child, type: 'initiate' });
  }

  #endSegment({ openedBy }: OpenTask, segment: OpenSegment): void {
    const ends = this.#walkSegment(segment);
    this.#write({ type: 'activityStarted', scheduledId: openedBy, attempt: 1 });
    this.#write({ type: 'activityCompleted', scheduledId: openedBy, result: { data: { ends } } });
    const outcome = { ends, isFailed: false };
    this.#jobs.push({ as: 'other', take: (at) => this.#take({ type: 'segmentEnded', at, outcome }) });
  }

  /** What the activity does: it walks a copy of the state. */
  #walkSegment({ config, plan }: OpenSegment): readonly SegmentEffectEnd[] {
    const { state, at: began } = JSON.parse(JSON.stringify(config)) as SegmentConfig;
    const walk = new SegmentWalk(this.program, restore(state));
    const ends: SegmentEffectEnd[] = [];
    const open = new Map<string, RunCommand>();
    for (let at = began + 1; ends.length < plan.ends; at++) {
      for (const command of walk.begin()) open.set(command.id, command);
      const ids = [...open.keys()];
      const id = ids[at % Math.max(1, ids.length)];
      if (id === undefined) break;
      const command = open.get(id)!;
      open.delete(id);
      const end = { id, at, startedAt: at - 1 };
      const error = failureOfCause(REFUSED);
      const isFailed = plan.fails[ends.length % Math.max(1, plan.fails.length)] === true;
      const ended: SegmentEffectEnd = isFailed
        ? { ...end, ...failedEnd(command, error) }
        : { ...end, result: { data: { at } } };
      ends.push(ended);
      for (const cancelled of walk.applyEnd(ended)) open.delete(cancelled);
      this.clock = Math.max(this.clock, at);
    }
    return ends;
  }

  /** One child starts, or one that runs ends: it reports, or is terminated and found out by asking. */
  moveChild(n: number): void {
    const starting = this.#initiated.shift();
    if (starting !== undefined) {
      this.#write({ type: 'childStarted', initiatedId: starting.openedBy });
      this.#jobs.push({
        as: 'other',
        take: (at) => {
          if (starting.cancelled) return;
          this.#take({ type: 'childStarted', at, id: starting.id });
          this.#running.push(starting.id);
        },
      });
      return;
    }
    const [id] = this.#running.splice(n % this.#running.length, 1);
    if (id === undefined) return;
    if (n % 3 === 0) this.#commands.push({ type: 'ask' });
    else this.signal('childDone', { path: id, output: n });
    if (n % 3 === 0) this.#terminated.push(id);
  }

  #terminated: string[] = [];
  /** As the shell, it asks after its children once at a time. */
  #asking = false;

  #afterChildrenCheck(): void {
    this.#asking = false;
    if (this.#terminated.length > 0) this.#commands.push({ type: 'ask' });
  }

  #terminatedChildren(): { id: string; error: RunError }[] {
    const error = { code: 'child_terminated', message: 'It was terminated.', retryable: false };
    return this.#terminated.splice(0).map((id) => ({ id, error }));
  }

  failActivity(n: number, attempt = 3): void {
    const [task] = this.#activities.splice(n % this.#activities.length, 1);
    if (task === undefined) return;
    // Every other segment that fails has reported what it did before its worker died.
    const reported = task.segment !== undefined && n % 2 === 1 ? { ends: this.#walkSegment(task.segment) } : undefined;
    const cause: FailureCause =
      reported === undefined ? REFUSED : { kind: 'timeout', timeoutType: 'HEARTBEAT', lastHeartbeat: reported };
    this.#write({ type: 'activityStarted', scheduledId: task.openedBy, attempt });
    this.#write({ type: 'activityFailed', scheduledId: task.openedBy, cause });
    this.#jobs.push({
      as: 'other',
      take: (at) => {
        if (task.segment !== undefined) {
          this.#take({ type: 'segmentEnded', at, outcome: failedSegment(reported) });
          return;
        }
        if (!task.cancelled) this.#take({ type: 'failed', at, id: task.id, error: failureOfCause(cause) });
        if (task.id === CHILDREN_ACTIVITY_ID) this.#afterChildrenCheck();
      },
    });
  }

  fireTimer(n: number): void {
    const [task] = this.#timers.splice(n % this.#timers.length, 1);
    if (task === undefined || task.cancelled) return;
    this.clock = Math.max(this.clock, task.at ?? 0);
    this.#write({ type: 'timerFired', startedId: task.openedBy });
    this.#jobs.push({
      as: 'other',
      take: (at) => {
        if (!task.cancelled) this.#take({ type: 'fired', at, id: task.id });
      },
    });
  }

  /** A workflow task; `fails`: attempts before it that failed or timed out. */
  task(fails: ('taskFailed' | 'taskTimedOut')[] = [], meanwhile: () => void = () => undefined): void {
    for (const type of fails) {
      this.#write({ type: 'taskScheduled', sticky: this.#begun });
      this.#write({ type: 'taskStarted' });
      this.#write({ type });
      this.advanceClock(3);
    }
    this.#write({ type: 'taskScheduled', sticky: this.#begun });
    const at = this.#write({ type: 'taskStarted' }).time;
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#commands = this.#commands.filter((command) => command.type === 'ask');
    this.#accepted = [];
    this.#hadLocalSegment = false;
    if (!this.#begun) {
      this.#begun = true;
      if (this.#input.carried === undefined && this.histories.length === 1) this.#take({ type: 'started', at });
    }
    for (const job of jobs) if (job.as === 'request') job.take(at);
    for (const job of jobs) if (job.as === 'other') job.take(at);
    const markers = this.#runLocalActivities(at);
    // What comes while the task runs is buffered by the server, and written behind its commands.
    const buffered = this.#buffered(meanwhile);
    this.#write({ type: 'taskCompleted', buildId: this.#buildId });
    for (const event of this.#accepted) this.#write(event);
    for (const marker of markers) this.#write(marker);
    for (const command of this.#commands.splice(0)) this.#issue(command);
    for (const event of buffered) this.#write(event);
  }

  /** Ends this run of the chain and opens the next, with the state in its argument. */
  continueAsNew(): void {
    if (this.ended || this.#activities.some((task) => !task.cancelled) || this.#jobs.length > 0) return;
    if (this.#initiated.length > 0 || this.#commands.length > 0) return;
    const argument = JSON.parse(
      JSON.stringify({ ...this.#input, carried: serialize(this.program, this.state) }),
    ) as RunInput;
    this.#write({ type: 'closed', how: 'continued', argument, nextRunId: `run-${this.histories.length}` });
    this.state = this.#open(argument);
    for (const [id, open] of Object.entries(this.state.openCommands)) {
      if (open.type === 'timer' || open.type === 'deadline') this.#commands.push({ type: 'timer', id, at: open.at });
    }
    const rearmed = this.#commands;
    this.#commands = [];
    this.task();
    for (const command of rearmed) this.#issue(command);
  }

  close(): void {
    const ending = this.state.ending;
    if (ending !== undefined)
      this.#write({ type: 'closed', how: ending.status === 'aborted' ? 'failed' : ending.status });
  }

  #open(argument: RunInput): RunState {
    this.#events = [];
    this.histories.push(this.#events);
    this.#begun = false;
    this.#activities = [];
    this.#timers = [];
    this.#initiated = [];
    this.#commands = [];
    const plain = JSON.parse(JSON.stringify(argument)) as RunInput;
    const before = this.histories.length > 1 ? { continuedFrom: `run-${this.histories.length - 2}` } : {};
    const event = this.#write({ type: 'workflowStarted', argument: plain, ...before });
    const state =
      plain.carried === undefined
        ? genesis(this.program, genesisOf(runInputOf(plain)!, WORKFLOW_ID, event.time))
        : restore(plain.carried);
    const policy = { mayBeginSegment: () => this.#plans.length > 0, holdsCommands: () => false };
    this.#runner = new Runner(this.program, state, policy, { trace: (line) => this.trace.push(line) });
    return state;
  }

  #take(inbound: Inbound): void {
    for (const outbound of this.#runner.take(inbound)) {
      if (outbound === undefined) continue;
      switch (outbound.type) {
        case 'endSegmentEarly':
        case 'answered':
          break;
        case 'broken':
          throw outbound.error;
        case 'cancel':
          this.#cancelCommand(outbound.id);
          break;
        case 'segment':
          this.#beginSegment(segmentConfig(this.program, this.state, outbound.at));
          break;
        case 'attempt':
          this.#commands.push(outbound.command);
          break;
        default:
          this.#commands.push(outbound);
      }
    }
  }

  #beginSegment(config: SegmentConfig): void {
    const segment = { config, plan: this.#plans[this.#planned++ % this.#plans.length]! };
    if (segment.plan.local && !this.#hadLocalSegment) {
      this.#hadLocalSegment = true;
      this.#localSegment = segment;
    } else this.#commands.push({ type: 'segment', segment });
  }

  #cancelCommand(id: string): void {
    const before = this.#commands.findIndex((command) => 'id' in command && command.id === id);
    if (before >= 0) this.#commands.splice(before, 1);
    this.#running = this.#running.filter((running) => running !== id);
    for (const task of this.#pending) {
      if (task.id === id) task.cancelled = true;
    }
    this.#timers = this.#timers.filter((task) => !task.cancelled);
  }

  /** Every task ever opened in this run: its answer may be under way. */
  #pending: OpenTask[] = [];

  /** Runs local activities within the task, one after the other. */
  #runLocalActivities(at: number): Unnumbered<HistoryEvent>[] {
    const markers: Unnumbered<HistoryEvent>[] = [];
    let clock = at;
    for (;;) {
      const segment = this.#localSegment;
      if (segment !== undefined) {
        this.#localSegment = undefined;
        const ends = this.#walkSegment(segment);
        clock = Math.max(clock, ends.at(-1)?.at ?? 0) + 1;
        this.clock = Math.max(this.clock, clock);
        const times = { attempt: 1, completedAt: clock, backoff: false };
        markers.push({ type: 'localActivity', summary: SEGMENT_ACTIVITY_ID, ...times, result: { data: { ends } } });
        this.#take({ type: 'segmentEnded', at: clock, outcome: { ends, isFailed: false } });
        continue;
      }
      const n = this.#commands.findIndex((command) => command.type === 'run' && command.local);
      const command = this.#commands[n];
      if (command?.type !== 'run') return markers;
      this.#commands.splice(n, 1);
      clock += 2;
      this.clock = Math.max(this.clock, clock);
      const times = { attempt: 1, completedAt: clock, backoff: false };
      const result = { data: { at: clock } };
      markers.push({ type: 'localActivity', summary: command.id, ...times, result });
      this.#take({ type: 'completed', at: clock, id: command.id, result });
    }
  }

  #issue(command: Issue): void {
    if (command.type === 'yield') this.#schedule(YIELD);
    if (command.type === 'ask' && !this.#asking) {
      this.#asking = true;
      this.#schedule(CHILDREN_ACTIVITY_ID);
    }
    if (command.type === 'segment') this.#schedule(SEGMENT_ACTIVITY_ID, undefined, command.segment);
    if (command.type === 'run') this.#schedule(command.id);
    if (command.type === 'child') this.#schedule(command.id, command);
    if (command.type === 'initiate') {
      const { id } = this.#write({ type: 'childInitiated', executionId: command.executionId });
      this.#remember(this.#initiated, { id: command.id, openedBy: id, cancelled: false });
    }
    if (command.type === 'timer') {
      const { id } = this.#write({ type: 'timerStarted', summary: command.id });
      this.#remember(this.#timers, { id: command.id, openedBy: id, cancelled: false, at: command.at });
    }
  }

  #schedule(activityId: string, child?: OpenTask['child'], segment?: OpenSegment): void {
    const { id } = this.#write({ type: 'activityScheduled', activityId });
    const task = { id: activityId, openedBy: id, cancelled: false, ...omitUndefined({ child, segment }) };
    this.#remember(this.#activities, task);
  }

  #remember(list: OpenTask[], task: OpenTask): void {
    list.push(task);
    this.#pending.push(task);
  }

  #buffered(meanwhile: () => void): Unnumbered<HistoryEvent>[] {
    const events = this.#events;
    const from = events.length;
    meanwhile();
    return events.splice(from).map(({ id: _id, time: _time, ...rest }) => rest as Unnumbered<HistoryEvent>);
  }

  #write(event: Unnumbered<HistoryEvent>): HistoryEvent {
    this.clock += 1;
    const written = {
      ...JSON.parse(JSON.stringify(event)),
      id: this.#events.length + 1,
      time: this.clock,
    } as HistoryEvent;
    this.#events.push(written);
    return written;
  }
}
