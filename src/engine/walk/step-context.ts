/**
 * The step context of the engine (steps/kind.ts): reads through the frame's scope, writes only what a kind may write.
 */

import type { MadeDecision } from '../../contract/run/run.ts';
import { addDecision, decidedResource, deciderValue, verdictValue } from '../../contract/search-attributes.ts';
import { jsonBytes } from '../../json/bytes.ts';
import { type Json, type JsonObject, setOwn } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import {
  type Locals,
  type Message,
  type OpenStepContext,
  type StepContext,
  StepFailure,
  type Subscription,
} from '../../steps/kind.ts';
import type { Step } from '../../steps/program-types.ts';
import { type Expression, evaluate } from '../../template/expression.ts';
import { truthy } from '../../template/operators.ts';
import { render, type Template } from '../../template/template.ts';
import type { EvaluateOptions, Rendered, SecretString } from '../../template/types.ts';
import { type Core, evaluateOptions } from '../state/core.ts';
import { ENTRY_OVERHEAD } from '../state/limits.ts';
import { valueBytes } from '../state/measure.ts';
import { tickPath, visitCount, visitPath } from '../state/paths.ts';
import { charge, requireSpace } from '../state/space.ts';
import type { Frame } from '../state/state.ts';
import { returnMessages } from './return-messages.ts';
import { FrameScope } from './scope.ts';
import { takeUnread } from './take-messages.ts';

export class RunStepContext implements OpenStepContext {
  readonly path: string;
  readonly slug: string;
  readonly state: JsonObject;
  readonly #core: Core;
  readonly #frame: Frame;
  readonly #step: Step;
  readonly #locals: Locals | undefined;

  constructor(core: Core, frame: Frame, step: Step, path: string, state: JsonObject, locals?: Locals) {
    this.#core = core;
    this.#frame = frame;
    this.#step = step;
    this.path = path;
    this.slug = step.slug;
    this.state = state;
    this.#locals = locals;
  }

  get now(): number {
    return this.#core.state.now;
  }

  get isMarked(): StepContext['isMarked'] {
    return this.#core.program.isMarked;
  }

  get branches(): readonly string[] {
    return this.#step.branches;
  }

  get execution(): StepContext['execution'] {
    const { executionId, organizationId, depth, initiator, requesters, parentId } = this.#core.state.genesis;
    return {
      id: executionId,
      organizationId,
      depth,
      ...omitUndefined({ initiator, requesters, parentId }),
    };
  }

  render(template: Template, locals?: Locals): Json {
    return render(template, this.#scope(locals), this.#meteredOptions()).value;
  }

  renderSecret(template: Template, locals?: Locals): Rendered {
    const { value, secrets } = render(template, this.#scope(locals), this.#meteredOptions());
    return { value, secrets: secrets.map((string) => this.#withCallbackPaths(string)) };
  }

  /** Replaces a callback's slug by the path of its visit. The activity that makes the URL knows no frames. */
  #withCallbackPaths({ path, parts }: SecretString): SecretString {
    const placed = parts.map((part) =>
      typeof part !== 'string' && 'callback' in part
        ? { callback: callbackPath(this.#core, this.#frame, part.callback), slug: part.callback }
        : part,
    );
    return { path, parts: placed };
  }

  #meteredOptions(): EvaluateOptions {
    return { ...evaluateOptions(this.#core), meter: this.#core.state.activation };
  }

  evaluate(expression: Expression, locals?: Locals): Json | undefined {
    return evaluate(expression, this.#scope(locals), this.#meteredOptions());
  }

  test(expression: Expression, locals?: Locals): boolean {
    return truthy(this.evaluate(expression, locals));
  }

  wired(port: string): boolean {
    return Object.hasOwn(this.#step.next, port);
  }

  takeMessages(
    subscription: Subscription,
    limit: number,
    accept: (payload: Json) => boolean,
    { isConstant = false } = {},
  ): Message[] {
    return takeUnread(this.#core, { subscription, limit, accept, ...(isConstant ? { step: this.#step } : {}) });
  }

  returnMessages(messages: readonly Message[]): void {
    returnMessages(this.#core, messages);
  }

  assign(target: 'variables' | 'state', name: string, value: Json): void {
    assign(this.#core, target, name, value);
  }

  traceEvaluated(member: string, value: Json): void {
    this.#core.trace?.({ t: 'evaluated', path: this.path, member, value });
  }

  recordDecision(path: string, decision: MadeDecision): void {
    recordDecision(this.#core, path, decision);
  }

  #scope(locals: Locals | undefined): FrameScope {
    return new FrameScope(this.#core.program, this.#core.state, this.#frame, this.path, locals ?? this.#locals);
  }
}

/**
 * The target of `{{ callback('slug') }}` (LANGUAGE.md §3, Callbacks): the path that the next visit of that step will
 * have in the frame where it is rendered.
 * @throws StepFailure `callback_out_of_reach` where this frame never reaches the step.
 */
function callbackPath(core: Core, frame: Frame, slug: string): string {
  const { program, state } = core;
  const step = program.steps.get(slug);
  if (step?.kind.takesCallbacks !== true) throw outOfReach(slug, 'it is not a wait_callback step');
  // In a dag every step has its own frame and is visited once.
  if (frame.prefix !== undefined) return visitPath(frame.prefix, slug, 1);
  const home = program.regions.containerOf.get(slug);
  const loop = frame.loops.findLast((record) => record.slug === home);
  if (loop !== undefined) return visitPath(tickPath(loop.path, loop.tick), slug, visitCount(loop.counts, slug) + 1);
  const container = frame.parent === undefined ? undefined : state.frames[frame.parent]?.visit?.slug;
  const branch =
    container === undefined ? undefined : program.regions.regions.get(container)?.branches.get(frame.name ?? '');
  if (home !== container || branch?.has(slug) === false)
    throw outOfReach(slug, 'it is in another loop, branch or iteration');
  return visitPath(frame.id, slug, visitCount(frame.counts, slug) + 1);
}

function outOfReach(slug: string, why: string): StepFailure {
  return new StepFailure(
    'callback_out_of_reach',
    `callback('${slug}') has no URL here: ${why}. ` +
      'Name a wait_callback step of the same loop body, branch or iteration.',
  );
}

/** Decisions of approvals: in the trace, and as values by which lists find the run. */
function recordDecision(core: Core, path: string, decision: MadeDecision): void {
  core.trace?.({ t: 'decided', path, decision });
  if (!core.program.isMarked('decided')) return;
  const { state } = core;
  const { status, voters, resourceType, resourceId } = decision;
  const before = state.decided ?? [];
  const after = addDecision(before, [
    verdictValue(status),
    ...voters.map(deciderValue),
    ...(resourceType === undefined ? [] : [decidedResource(resourceType, resourceId)]),
  ]);
  if (after === before) return;
  charge(core, jsonBytes([...after.slice(before.length)]) + DECIDED_MEMBER_BYTES);
  state.decided = after;
}

/** `"decided":[],` */
const DECIDED_MEMBER_BYTES = 13;

/** Writes a variable, or a state key of its declared type (null always fits). */
export function assign(core: Core, target: 'variables' | 'state', name: string, value: Json): void {
  const { state, program } = core;
  const declared = target === 'state' ? program.definition.state : undefined;
  const field = declared !== undefined && Object.hasOwn(declared, name) ? declared[name] : undefined;
  const type: string = typeof value;
  if (field !== undefined && value !== null && type !== field.type)
    throw new StepFailure(
      'state_type',
      `The state key '${name}' is declared as ${field.type}; the value is ${Array.isArray(value) ? 'a list' : type}.`,
    );
  const bytes = valueBytes(value);
  state.bytes += bytes + name.length;
  charge(core, ENTRY_OVERHEAD);
  const restore = snapshotValue(state[target], name);
  setOwn(state[target], name, value);
  if (program.isMarked('modifiers2')) core.undoAssignments = [restore, ...(core.undoAssignments ?? [])];
  try {
    requireSpace(core, `The value of '${name}'`, bytes);
  } catch (error) {
    restore();
    throw error;
  }
}

/** Undoes the assignments of the failed visit. */
export function undoVisitAssignments(core: Core): void {
  for (const undo of core.undoAssignments ?? []) undo();
  core.undoAssignments = [];
}

/** Remembers the value of that name. Returns a function that restores it. */
export function snapshotValue(values: { [name: string]: Json }, name: string): () => void {
  const before = Object.hasOwn(values, name) ? values[name] : undefined;
  return () => {
    if (before === undefined) delete values[name];
    else setOwn(values, name, before);
  };
}
