import { z } from 'zod';
import { AGENT_MESSAGE } from '../../../contract/run/agent-message.ts';
import { isObject, type Json } from '../../../json/json.ts';
import { omitUndefined } from '../../../json/omit-undefined.ts';
import { invalid, isAbsent, optionalBoolean, optionalText, wholeNumber } from '../../config/read.ts';
import { configSchema, templated, textTemplate } from '../../config/schema.ts';
import { ConfigError, type OpenStepContext, type Outcome, type StepContext, type StepKind } from '../../kind.ts';
import { timedPorts } from '../../ports.ts';

const CONTENT = ['content', 'message', 'goal'] as const;
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 2_147_483_647;
const DEFAULT_WAIT_MS = 300_000;
const TIMEOUT = '/timeout';
const PARENT = 'parent';
/** As the gateway and runs make them. */
const RUN_ID = /^run\./;

/** `waitMs`: how long to wait for the reply, where one is awaited. */
type AgentMessageState = { readonly waitMs?: number };

export const agentMessage: StepKind<AgentMessageState> = {
  type: 'agent_message',
  class: 'effect',
  summary: 'Sends a message to a working agent, and may wait for its answer.',
  description: `Sends \`content\` (or \`message\`, or \`goal\`) to an agent, whose model reads it before its next turn.
With \`interrupt: true\` the agent cancels its current calls. An agent that has not begun receives the message when it
begins. An agent that has ended does not receive it.

- **to.** The slug or path of an agent step of this run; \`parent\`, the run that started this one; or the id of a run
  of the same organization. Without it, the first agent of this run that listens receives the message.
- **await_response.** Waits for the agent's next answer. After \`await_timeout_ms\` the step ends by \`timeout\`; if
  that port is not wired it fails with \`agent_message_timeout\`.
- **Errors.** An unknown run is \`recipient_not_found\`, and a run that has ended is \`closed\`. A run with too many
  unread messages is \`inbox_overflow\`, which is retried.`,
  example: {
    stepType: 'agent_message',
    config: {
      to: 'researcher',
      content: 'The customer has called: {{ input.note }}',
      interrupt: true,
      await_response: true,
      await_timeout_ms: 60_000,
    },
    nextSteps: { success: 'tell', timeout: 'ask' },
  },
  output: 'The reply, if it was waited for; else `{executionId}` of the run that was told.',
  schema: () =>
    configSchema({
      content: textTemplate().optional().describe('The message.'),
      message: textTemplate().optional().describe('The same.'),
      goal: textTemplate().optional().describe('The same.'),
      to: textTemplate().optional().describe("An agent step of this run, 'parent', or the id of a run."),
      interrupt: templated(z.boolean()).optional().describe('Whether the agent leaves what it is doing (false).'),
      await_response: templated(z.boolean()).optional().describe('Whether to wait for its answer (false).'),
      await_timeout_ms: templated(z.number().int().min(MIN_WAIT_MS).max(MAX_WAIT_MS))
        .optional()
        .describe('For how long (5 minutes).'),
    }).refine((config) => CONTENT.some((member) => config[member] !== undefined), {
      error: 'Expected content, message or goal.',
      path: ['content'],
    }),
  ports: () =>
    timedPorts(
      'success',
      'agent_message_timeout',
      (slug) => `The agent did not answer the step '${slug}' in time; wire its port 'timeout', or wait longer.`,
    ),
  plan(config, parse) {
    const contentMember = CONTENT.find((member) => !isAbsent(config[member]));
    if (contentMember === undefined) throw new ConfigError('/content', 'Expected content, message or goal.');
    const template = (member: string) => parse.template(config[member], `/${member}`);
    const [content, to, interrupt] = [template(contentMember), template('to'), template('interrupt')];
    const [awaitResponse, timeout] = [template('await_response'), template('await_timeout_ms')];
    return {
      begin(visit) {
        const text = visit.render(content);
        const waits = optionalBoolean(visit.render(awaitResponse), 'await_response') === true;
        const wait = visit.render(timeout);
        const waitMs = isAbsent(wait)
          ? DEFAULT_WAIT_MS
          : wholeNumber(wait, 'await_timeout_ms', MIN_WAIT_MS, MAX_WAIT_MS);
        const recipientRun = recipient(visit, optionalText(visit.render(to), 'to'));
        const payload: Json = {
          content: typeof text === 'string' ? text : JSON.stringify(text),
          ...(optionalBoolean(visit.render(interrupt), 'interrupt') === true ? { interrupt: true } : {}),
          ...omitUndefined({ to: recipientRun.step }),
          ...(waits ? { reply: { executionId: visit.execution.id, name: replyName(visit) } } : {}),
        };
        return {
          do: 'suspend',
          state: waits ? { waitMs } : {},
          run: [
            {
              activity: 'messageRun',
              config: { value: { executionId: recipientRun.executionId, name: AGENT_MESSAGE, payload }, secrets: [] },
            },
          ],
        };
      },
      resume(visit, event) {
        switch (event.on) {
          case 'completed': {
            const { waitMs } = visit.state;
            if (waitMs === undefined) return { do: 'end', port: 'success', data: event.result.data };
            return replyOrWait(visit, visit.now + waitMs);
          }
          case 'failed':
            return { do: 'fail', error: event.error };
          case 'message':
            return replied(event.payload);
          case 'fired':
            return { do: 'end', port: 'timeout', data: null };
          default:
            return { do: 'ignore' };
        }
      },
    };
  },
};

function recipient(
  visit: StepContext,
  to: string | undefined,
): { readonly executionId: string; readonly step?: string } {
  const { id, parentId } = visit.execution;
  if (to === undefined) return { executionId: id };
  if (RUN_ID.test(to)) return { executionId: to };
  if (to !== PARENT) return { executionId: id, step: to };
  if (parentId === undefined) throw invalid('to', 'an agent: no other run has started this one', to);
  return { executionId: parentId };
}

/** The name of the reply's message, unique to this visit. */
function replyName(visit: StepContext): string {
  return `agent_reply ${visit.path}`;
}

/** The agent may have answered before the activity that sent the message has ended. */
function replyOrWait(visit: OpenStepContext<AgentMessageState>, until: number): Outcome<AgentMessageState> {
  const name = replyName(visit);
  const [early] = visit.takeMessages({ names: [name] }, 1, () => true);
  if (early !== undefined) return replied(early.payload);
  return {
    do: 'suspend',
    state: visit.state,
    waiting: { kind: 'message', name, until },
    timers: [{ suffix: TIMEOUT, at: until }],
  };
}

function replied(payload: Json): Outcome<never> {
  return { do: 'end', port: 'success', data: isObject(payload) ? (payload['reply'] ?? null) : payload };
}
