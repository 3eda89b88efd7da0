/**
 * The input of a run and what it shows: the contract between its starters (gateway, schedule, the `temporal` CLI), the
 * workflow `run`, and its readers. JSON only.
 */

import type { Definition, PayloadFormat } from '../../definition/document/types.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { SealedSecret } from '../actors.ts';
import type { AppliedLimit } from '../limits/limiter.ts';
import type { Cost } from '../organization/models.ts';
import { shortHash } from '../workflow-ids.ts';

/** The workflow type, and the workflow's one argument: this, or a bare definition (ARCHITECTURE.md §3). */
export const RUN_WORKFLOW = 'run';

export interface RunTrigger {
  readonly type: 'manual' | 'webhook' | 'schedule' | 'event' | 'inline' | 'subworkflow' | 'temporal';
  readonly id?: string;
  readonly metadata?: JsonObject;
}

export interface RunInput {
  readonly definition: Definition;
  /** The `state` of the definition as stored, where values given at the start are the defaults of the snapshot. */
  readonly declaredState?: NonNullable<Definition['state']>;
  readonly input?: Json;
  /** Outputs set without running the step: slug → data, or an envelope `{data, port?, meta?}`. */
  readonly presets?: { readonly [slug: string]: Json };
  /** Secrets of a definition that is not stored, by the names that it has for them. */
  readonly sealedSecrets?: { readonly [name: string]: SealedSecret };
  /** Default `default`. */
  readonly organizationId?: string;
  readonly trigger?: RunTrigger;
  /** Canonical hash of the definition (`sha256:…`). Absent for runs started by hand. */
  readonly hash?: string;
  readonly inline?: boolean;
  readonly initiator?: string;
  /** Persons besides the initiator who count as its requesters: those who started the runs that it was forked from. */
  readonly requesters?: readonly string[];
  /** Whoever started the run wrote its whole memo. A list that the memo lacks is empty: Temporal drops empty lists. */
  readonly shown?: true;
  readonly parentId?: string;
  /** The run that waits for this one. It gets the signal `childDone` with this path when this run has ended. */
  readonly notify?: { readonly workflowId: string; readonly path: string };
  /** Depth of run_workflow nesting. It is 0 for a run that no step started. */
  readonly depth?: number;
  /** Overrides config.timeout, in milliseconds. */
  readonly timeoutMs?: number;
  /** The limiters of the run, in the order in which it asks. Default: the limiters of its definition. */
  readonly gates?: readonly AppliedLimit[];
  /** Limiters at which an ancestor of the run holds a lease. The run shares that lease. */
  readonly within?: readonly string[];
  /**
   * The types of the host's actions in the definition that are light, as the process that starts the run has loaded
   * them. Absent in a run that was started by hand: there only the worker of an action knows it.
   */
  readonly light?: readonly string[];
  /** The core's complete state. Present after continue-as-new, in a retry and in a fork. */
  readonly carried?: Json;
  /** A retry: the failed Temporal run, under the same id. */
  readonly retryOf?: { readonly runId: string };
  /** A fork: the original execution, and the visit at which the fork began. */
  readonly forkOf?: ForkOrigin;
}

/** The origin of a run beside its trigger. Lists can be searched by the first three members. */
export interface RunOrigin {
  readonly conversationId?: string;
  readonly channel?: string;
  readonly employeeId?: string;
  readonly conversationTitle?: string;
  readonly triggerUrl?: string;
  readonly debounceKey?: string;
}

export interface ForkOrigin {
  readonly executionId: string;
  readonly path: string;
}

export const RUN_STATUSES = [
  'pending',
  'running',
  'waiting',
  'completed',
  'failed',
  'cancelled',
  'aborted',
  'rolling_back',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface WaitingFor {
  readonly path: string;
  readonly stepSlug: string;
  readonly kind: 'approval' | 'input' | 'message' | 'callback' | 'timer' | 'child' | 'slot';
  /** ISO 8601. */
  readonly since: string;
  readonly until?: string;
  /** Approvals: the question. Messages: the first of the awaited names. */
  readonly message?: string;
  readonly name?: string;
  /** Messages: all awaited names, where there are several; and the key that events need, if any. */
  readonly names?: readonly string[];
  readonly key?: string;
  /** Children: the id of the child run. */
  readonly executionId?: string;
  /** Approvals, where one run is read: a decision needs a comment. */
  readonly commentRequired?: true;
  /**
   * The persons asked: `user:ann`, `role:finance`, `group:board`, at most a hundred. Absent where the step names no
   * persons.
   */
  readonly audience?: readonly string[];
  /** Approvals: persons who may not decide, since they started the run or have voted. */
  readonly notBy?: readonly string[];
  /** Approvals that one vote does not decide: how many approvals there are, and are needed. */
  readonly votes?: { readonly have: number; readonly needed: number };
  /** Approvals and input: the payload format of the form. Absent where it has more than 4,000 characters. */
  readonly form?: PayloadFormat;
  /** Approvals: their subject, as their config describes it. */
  readonly priority?: string;
  readonly dueDate?: string;
  readonly resourceType?: string;
  readonly resourceId?: string;
  readonly routeHint?: string;
  readonly deeplink?: string;
  /** Slots: the workflow id of the limiter. */
  readonly gate?: string;
  /** Slots: the place of the run in the limiter's queue; 1 is next. Absent where the limiter did not answer. */
  readonly position?: number;
}

/**
 * With what the run itself does not know: activities that are tried again or paused, or whose large result the store
 * does not take, and tasks that no worker takes.
 */
export interface ShownWaitingFor extends Omit<WaitingFor, 'kind'> {
  readonly kind: WaitingFor['kind'] | 'retry' | 'unpause' | 'store' | 'worker';
  /** Retries and paused activities: the attempt that comes next, and how many there are at most. */
  readonly attempt?: number;
  readonly maxAttempts?: number;
}

/** A failure as the outside sees it, and as the root `error` of expressions (where stepSlug is `step`). E8. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly stepSlug?: string;
  readonly attempts?: number;
  readonly retryable: boolean;
  readonly details?: Json;
}

/**
 * The memo of a run, which `describe()` answers without a worker (2 ms). It takes at most 2 KB, apart from waitingFor,
 * which has at most 20 items.
 */
export interface RunMemo {
  readonly workflow: string;
  readonly version?: string;
  readonly hash?: string;
  readonly organizationId: string;
  readonly status: RunStatus;
  readonly waitingFor: readonly WaitingFor[];
  readonly unread: number;
  /** Messages that the run dropped because its inbox was full. */
  readonly dropped?: number;
  /** When the run was paused: ISO 8601. Null or absent where it is not paused. */
  readonly paused?: string | null;
  readonly trigger: { readonly type: string; readonly id?: string };
  readonly startedAt: string;
  /** The run has returned, and its output is decided, although effects in flight may still end. */
  readonly decided?: DecidedOutput;
  readonly inline?: boolean;
  readonly initiator?: string;
  /** The author of the trigger that started the run. */
  readonly owner?: string;
  readonly parentId?: string;
  readonly forkOf?: ForkOrigin;
  readonly origin?: RunOrigin;
  /** Also written at the run's end, unlike the other members. */
  readonly costs?: readonly Cost[];
}

interface DecidedOutput {
  /** ISO 8601. */
  readonly at: string;
  /** Absent where it is too large for a memo. The run's history has it. */
  readonly output?: Json;
}

/** Failure of the workflow `run`: ApplicationFailure of type = code, message, details[0] = RunError. */
export const CANCELLED_CODE = 'cancelled';
/** The memo's member for the reason why a run cancelled itself. */
export const CANCEL_REASON = 'cancelReason';
/** The memo's member for further facts: who denied an approval, when, comments and votes. */
export const CANCEL_DETAILS = 'cancelDetails';
/** The code of an aborted run: its status is `aborted`, although for Temporal it has failed. */
export const ABORTED_CODE = 'run_aborted';

/** The payload of the signals and updates of ARCHITECTURE.md §3. `step` is a slug with one open visit, or a path. */
interface StepSignal {
  readonly step?: string;
  /** The run remembers the key (also across continue-as-new): a repeated key gets the same answer. */
  readonly key?: string;
  readonly by?: string;
}
/** The roles and groups of a person, for which the gateway vouches. An organization without API keys has no persons. */
export interface RoleClaims {
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** The person's e-mail addresses, in lower case. Absent in decisions of earlier gateways. */
  readonly names?: readonly string[];
}

/** The owner of the address to which a link was sent, where the link decides as somebody else. */
export interface LinkHolder {
  /** The person, or the address where it is nobody's. */
  readonly id: string;
  /** Their addresses, in lower case. */
  readonly names: readonly string[];
}
/** A decision about an approval: the same shape from the route that takes it to the step kind that counts it. */
export interface Decision {
  readonly decision: 'approved' | 'rejected';
  /** The person's id. Absent where the organization has no persons, as is `as`. */
  readonly by?: string;
  readonly as?: RoleClaims;
  readonly comments?: string;
  /** The values of the approval's form. */
  readonly data?: Json;
  readonly holder?: LinkHolder;
  /** `api`, `link`, `link to ADDRESS`, or `temporal` for a signal, which carries no identity. */
  readonly via: string;
  /** An operator decides by a signal in place of the approvers, and gives this reason. */
  readonly override?: boolean;
  readonly reason?: string;
}
/** The answer to a `user_input` step. The members are those of Decision. */
export interface Submission extends Pick<Decision, 'by' | 'as' | 'via'> {
  readonly data: Json;
}
/** `approve` and `reject` imply the decision. `via` defaults to `temporal`. */
export type DecideSignal = StepSignal & Partial<Decision>;
/** `data` defaults to null, `via` to `temporal`. */
export type SubmitSignal = StepSignal & Partial<Submission>;
export interface MessageSignal {
  readonly name: string;
  readonly payload?: Json;
  /** Two messages with one id are one message. */
  readonly id?: string;
  /** The message is a published event with this key. It goes to present listeners only. */
  readonly event?: { readonly key?: string };
}

/**
 * The answer of an accepted update. A refused one throws an ApplicationFailure of type = code, details[0] = Refusal.
 */
export interface Accepted extends Partial<DecisionEffect> {
  readonly accepted: true;
  readonly path: string;
}
/** What became of an accepted decision. */
export interface DecisionEffect {
  /** vote: the approval stays open for further votes. */
  readonly recorded: 'decision' | 'vote';
  /** Of a vote. */
  readonly votes?: NonNullable<WaitingFor['votes']>;
}
/** What a list of decided approvals may be limited to. */
export const DECIDED_FILTERS = ['approved', 'rejected', 'any'] as const;
/** A decision of an approval, as traces and lists have it. */
export interface MadeDecision {
  readonly status: 'approved' | 'rejected';
  /** Null for a caller without an id. */
  readonly by: string | null;
  /** ISO 8601. */
  readonly at: string;
  /** `api`, `link`, `link to ADDRESS`, `temporal`, or `timeout`. */
  readonly via: string;
  readonly comments: string | null;
  /** Everybody who voted. */
  readonly voters: readonly string[];
  readonly message: string;
  readonly resourceType?: string;
  readonly resourceId?: string;
}
export interface Refusal {
  readonly code:
    | 'no_such_step'
    | 'ambiguous_step'
    | 'not_waiting'
    | 'already_decided'
    | 'already_voted'
    | 'not_an_approver'
    | 'requester_may_not_approve'
    | 'not_an_assignee'
    | 'invalid_submission'
    | 'needs_override'
    | 'closed'
    | 'invalid_signal';
  readonly message: string;
  readonly paths?: readonly string[];
}

/** The search attribute value (SignalboxWaiting) of a run that listens to messages and events of that name. */
export const listenTag = (name: string): string => `message:${name}`;
/**
 * The search attribute value of a run that listens to events of that name with that key only. The hash is of both,
 * exactly as they are written.
 */
export const listenKeyTag = (name: string, key: string): string => `message-key:${shortHash(name, key)}:${name}`;
/** A run that listens to more names than can be listed is sent every event. */
export const LISTEN_ANY_TAG = 'message-any';
