import { z } from 'zod';
import { AGENT_MESSAGE, agentMessageIn } from '../../../contract/run/agent-message.ts';
import { asJson, isObject, type Json } from '../../../json/json.ts';
import { isAbsent, names, wholeNumber } from '../../config/read.ts';
import { expression, nameList, templated } from '../../config/schema.ts';
import type { Needs, StepKind } from '../../kind.ts';
import { modelSchema, planModel } from '../model-config.ts';
import { agentApprovalSchema, planApproval } from './agent-approval.ts';
import { type AgentState, agentState } from './agent-state.ts';
import { isNamed, planTools, toolsSchema } from './agent-tools.ts';
import { callModel, isAddressedTo, onRetry, type Rules, resume, shownCall, textOf } from './agent-turns.ts';

const DEFAULT_MAX_STEPS = 10;
const MAX_STEPS = 1_000;
export const agent: StepKind<AgentState> = {
  type: 'agent',
  class: 'effect',
  canUndo: false,
  summary: 'Lets a language model work with tools until it has an answer.',
  description: `Asks a model as \`llm\` does, offers it tools, makes the calls that it requests, returns their results
to it, and repeats this until the model answers. Each model call and each tool call is a durable step with its own row
in the trace (\`agent/turn[2]/model\`, \`agent/turn[2]/tool[0]\`): after a crash, completed calls are not repeated. The
calls of one turn run concurrently, with the step's \`retry\`.

- **Tools.** The tools of the MCP servers in \`mcpServerIds\` (\`tools\` selects some of them), \`actions\` of the
  host, and \`workflows\`, whose input format describes the tool. The model is told about a failed call, and may go on
  differently. What a model writes is data: \`{{ … }}\` in it stays text.
- **Approval.** \`approval: {tools, approvers, timeout, …}\` asks people before the named calls, by the rules of
  \`approval\`. The run waits at the call's path. A call that is rejected (\`approval_denied\`), or on which nobody
  decides in time (\`approval_timeout\`), is reported to the model.
- **End.** The agent ends with the model's answer, as text or JSON as for \`llm\`. It ends earlier, with the results of
  the calls, after a call of one of \`stopTools\`, or when \`stopWhen\` holds after a turn. After \`maxSteps\` model
  calls without an answer the step fails with \`agent_max_steps\`. A retry of the run grants the same number again, and
  repeats no completed call.
- **Conversation.** Messages \`${AGENT_MESSAGE}\` to the run (\`{content, interrupt?, to?}\`: from the kind
  \`agent_message\`, or \`POST /api/executions/:id/messages/${AGENT_MESSAGE}\`) are passed to the model before its next
  turn. With \`interrupt: true\` the agent cancels its current calls.`,
  example: {
    stepType: 'agent',
    config: {
      systemPrompt: 'You look after orders.',
      userPrompt: 'A customer writes: {{ input.text }}',
      mcpServerIds: ['shop'],
      workflows: ['refund'],
      approval: { tools: ['refund'], approvers: { roles: ['finance'] } },
      maxSteps: 20,
    },
    nextSteps: { success: 'tell' },
  },
  output:
    'The answer, text or JSON; or the results of the calls that ended it. ' +
    '`meta` is `{model, turns, toolCalls, usage}`.',
  schema: () =>
    z.strictObject({
      ...modelSchema(),
      ...toolsSchema(),
      maxSteps: templated(z.number().int().min(1).max(MAX_STEPS)).optional().describe('Most model calls (10).'),
      stopTools: nameList().optional().describe('The agent ends after a call of one of these, with its result.'),
      stopWhen: expression()
        .optional()
        .describe('Asked after each turn: an expression over `turn`, `text` and `calls` [{name, input, output}].'),
      approval: agentApprovalSchema().optional().describe('Calls that people are asked about before they are made.'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  needs: ({ actions, mcpServerIds, approval }) => ({
    actions: actionsIn(actions),
    mcpServers: { names: mcpServerIds, at: '/mcpServerIds' },
    ...(isObject(approval) ? { approval: { rules: approval, at: '/approval' } } : {}),
  }),
  plan(config, parse, step) {
    const request = planModel(config, parse);
    const tools = planTools(config, parse);
    const approval = planApproval(config, parse, step);
    const maxSteps = parse.template(config['maxSteps'], '/maxSteps');
    const stopTools = parse.template(config['stopTools'], '/stopTools');
    const { stopWhen } = config;
    const stopCondition =
      typeof stopWhen === 'string' ? parse.expression(stopWhen, '/stopWhen', ['turn', 'text', 'calls']) : undefined;
    const rules: Rules = {
      approval,
      stops: (visit, state, called) => {
        const stopNames = names((state.request['stopTools'] ?? null) as Json, 'stopTools');
        const ending = called.filter((call) => isNamed(call, stopNames));
        if (ending.length > 0) return ending;
        if (stopCondition === undefined) return undefined;
        const locals = { turn: state.turn, text: textOf(state), calls: called.map(shownCall) };
        return visit.test(stopCondition, locals) ? called : undefined;
      },
    };
    return {
      begin(visit) {
        const { messages, ...modelRequest } = request(visit);
        const renderedMaxSteps = visit.render(maxSteps);
        const state = agentState(
          {
            ...modelRequest,
            tools: asJson(tools(visit)),
            maxSteps: isAbsent(renderedMaxSteps)
              ? DEFAULT_MAX_STEPS
              : wholeNumber(renderedMaxSteps, 'maxSteps', 1, MAX_STEPS),
            stopTools: names(visit.render(stopTools), 'stopTools'),
          },
          messages,
        );
        const early = visit.takeMessages({ names: [AGENT_MESSAGE] }, Number.POSITIVE_INFINITY, (payload) =>
          isAddressedTo(visit, agentMessageIn(payload)),
        );
        state.queue.push(...early.map(({ payload }) => agentMessageIn(payload)!));
        return { ...callModel(state), hears: AGENT_MESSAGE };
      },
      resume: (visit, event) => resume(visit, event, rules),
      onRetry,
      refuse(visit, event) {
        if (event.on !== 'decision' || approval === undefined)
          return { code: 'not_waiting', message: `The step '${visit.slug}' waits for no such thing.` };
        return approval.refuse(visit, visit.state, event);
      },
    };
  },
};

/** Names of actions as written: one or a list. A name made by a template is known only in a run. */
function actionsIn(written: Json | undefined): NonNullable<Needs['actions']> {
  const listed = Array.isArray(written)
    ? written.map((type, i) => ({ type, at: `/actions/${i}` }))
    : [{ type: written, at: '/actions' }];
  return listed.filter(({ type }) => !String(type).includes('{{'));
}
