/**
 * Approval of named calls of an agent: one ask per call, by the rules of the kind `approval` (LANGUAGE.md §6).
 */

import { z } from 'zod';
import type { StepDefinition } from '../../../definition/document/types.ts';
import { isObject, type JsonObject } from '../../../json/json.ts';
import { isAbsent } from '../../config/read.ts';
import {
  type AskSpec,
  ConfigError,
  type DecisionEvent,
  type FailureShape,
  type KindRefusal,
  type Outcome,
  type Parse,
  type Resume,
  type StepContext,
  type TimerSpec,
} from '../../kind.ts';
import { approval } from '../approval/approval.ts';
import { approvalSchema } from '../approval/approval-schema.ts';
import type { ApprovalState } from '../approval/approval-state.ts';
import { type AgentState, APPROVAL, type OpenCall } from './agent-state.ts';
import { isNamed } from './agent-tools.ts';

const MAX_INPUT_CHARACTERS = 500;
const DEFAULT_MESSAGE = 'May the agent make this call?';

/** The schema of `approval` in an agent's config. */
export function agentApprovalSchema(): z.ZodType {
  const rules = approvalSchema() as z.ZodObject;
  return z.strictObject({
    tools: z
      .array(z.string().min(1))
      .min(1)
      .describe("Which calls: names of tools, 'server/tool', 'server/*', actions, workflows, or '*' for all."),
    ...rules.omit({ message: true, description: true }).shape,
    message: z.string().min(1).optional().describe('The question. The call itself is shown after it.'),
  });
}

/** The state of a call's approval. */
export type CallApprovalStatus =
  | { readonly is: 'open'; readonly ask?: AskSpec; readonly timers: readonly TimerSpec[] }
  | { readonly is: 'approved' }
  | { readonly is: 'denied'; readonly error: FailureShape }
  /** The approval ends the whole step or run (onReject: cancel). */
  | { readonly is: 'over'; readonly outcome: Outcome<never> };

export interface CallApproval {
  wanted(call: OpenCall): boolean;
  begin(visit: StepContext, state: AgentState, suffix: string, call: OpenCall): CallApprovalStatus;
  resume(visit: StepContext, state: AgentState, suffix: string, call: OpenCall, event: Resume): CallApprovalStatus;
  refuse: (visit: StepContext, state: AgentState, event: DecisionEvent) => KindRefusal | undefined;
}

/** Undefined where no call is asked about. */
export function planApproval(config: JsonObject, parse: Parse, step: StepDefinition): CallApproval | undefined {
  const written = config['approval'];
  if (isAbsent(written)) return undefined;
  if (!isObject(written)) throw new ConfigError('/approval', 'Expected an object with tools.');
  const { tools, ...rules } = written;
  if (!Array.isArray(tools) || tools.length === 0)
    throw new ConfigError('/approval/tools', 'Expected the names of the calls that are asked about.');
  // Names are compared as written. A template would match no call, and the call would run without approval.
  if (tools.some((name) => typeof name !== 'string' || name.includes('{{')))
    throw new ConfigError('/approval/tools', 'Names are written as they are: no {{ … }} stands here.');
  const behaviour = approval.plan({ message: DEFAULT_MESSAGE, ...rules }, parserUnderApproval(parse), step);
  const statusOf = (
    state: AgentState,
    suffix: string,
    call: OpenCall,
    outcome: Outcome<ApprovalState>,
  ): CallApprovalStatus => {
    switch (outcome.do) {
      case 'suspend': {
        const { state: approvalState, waiting } = outcome;
        const timers = (outcome.timers ?? []).map((one) => ({
          ...one,
          suffix: `${suffix}${APPROVAL}${one.suffix ?? ''}`,
        }));
        const before = state.approvals[suffix]?.timers ?? [];
        state.approvals[suffix] = { state: approvalState, timers: [...before, ...timers.map((timer) => timer.suffix)] };
        return {
          is: 'open',
          ...(waiting === undefined
            ? {}
            : {
                ask: { ...waiting, message: messageFor(waiting.message, call), inner: typeOf(call), input: call.input },
              }),
          timers,
        };
      }
      case 'end':
        return outcome.port === 'approved'
          ? { is: 'approved' }
          : { is: 'denied', error: denial(outcome.port, outcome.data) };
      case 'ignore':
        return { is: 'open', timers: [] };
      default:
        return { is: 'over', outcome };
    }
  };
  return {
    wanted: (call) => call.target !== undefined && isNamed(call, tools),
    begin: (visit, state, suffix, call) =>
      statusOf(state, suffix, call, behaviour.begin(approvalContext(visit, suffix))),
    resume(visit, state, suffix, call, event) {
      const approvalState = state.approvals[suffix]?.state;
      if (approvalState === undefined || behaviour.resume === undefined) return { is: 'open', timers: [] };
      return statusOf(
        state,
        suffix,
        call,
        behaviour.resume({ ...approvalContext(visit, suffix), state: approvalState }, event),
      );
    },
    refuse(visit, state, event) {
      const approvalState = event.suffix === undefined ? undefined : state.approvals[event.suffix]?.state;
      if (approvalState === undefined)
        return { code: 'not_waiting', message: `The step '${visit.slug}' waits for no decision now.` };
      return behaviour.refuse?.({ ...approvalContext(visit, event.suffix ?? ''), state: approvalState }, event);
    },
  };
}

/** The type of a call's row in the trace. */
export function typeOf({ target }: OpenCall): string {
  return target?.kind === 'workflow' ? 'run_workflow' : (target?.kind ?? 'tool');
}

function parserUnderApproval(parse: Parse): Parse {
  return {
    template: (value, at) => parse.template(value, `/approval${at}`),
    secretTemplate: (value, at) => parse.secretTemplate(value, `/approval${at}`),
    callbackTemplate: (value, at) => parse.callbackTemplate(value, `/approval${at}`),
    expression: (source, at, locals) => parse.expression(source, `/approval${at}`, locals),
  };
}

/** The context of the approval: a visit of its own, with every port wired. */
function approvalContext(visit: StepContext, suffix: string): StepContext {
  return {
    path: `${visit.path}${suffix}`,
    slug: visit.slug,
    now: visit.now,
    branches: [],
    execution: visit.execution,
    isMarked: visit.isMarked,
    wired: () => true,
    render: (template, locals) => visit.render(template, locals),
    renderSecret: (template) => visit.renderSecret(template),
    evaluate: (expression, locals) => visit.evaluate(expression, locals),
    test: (expression, locals) => visit.test(expression, locals),
    takeMessages: () => [],
    returnMessages: () => undefined,
    assign: (target, name, value) => visit.assign(target, name, value),
    traceEvaluated: () => undefined,
    recordDecision: (path, decision) => visit.recordDecision(path, decision),
  };
}

function messageFor(message: string | undefined, { name, input }: OpenCall): string {
  const text = JSON.stringify(input);
  const cut = text.length > MAX_INPUT_CHARACTERS ? `${text.slice(0, MAX_INPUT_CHARACTERS)}…` : text;
  return `${message ?? DEFAULT_MESSAGE} ${name} ${cut}`;
}

/** The failure of a denied call. The model reads its message, and the trace shows it. */
function denial(port: string, data: unknown): FailureShape {
  if (port === 'timeout')
    return { code: 'approval_timeout', message: 'Nobody approved this call in time.', retryable: false };
  const { decidedBy, comments } = (isObject(data as JsonObject) ? data : {}) as JsonObject;
  const by = typeof decidedBy === 'string' ? ` by ${decidedBy}` : '';
  const why = typeof comments === 'string' && comments !== '' ? `: ${comments}` : '.';
  return { code: 'approval_denied', message: `This call was rejected${by}${why}`, retryable: false };
}
