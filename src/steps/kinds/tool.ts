import { z } from 'zod';
import type { Json, JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { durationMs, planDuration } from '../config/duration.ts';
import { isAbsent, object, optionalText, text } from '../config/read.ts';
import { anyValue, configSchema, duration, templated, textTemplate } from '../config/schema.ts';
import { ConfigError, type OpenStepContext, type Outcome, type Resume, type RunSpec, type StepKind } from '../kind.ts';
import { activityEnd, planMembers } from './one-activity.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
/** The time of the activity beyond the call's own limit: reading the server's entry, connecting, finding the tool. */
const MARGIN_MS = 60_000;
/** An activity learns that it was cancelled from its heartbeats. */
const HEARTBEAT_MS = 15_000;
const TRANSFORM = '/transform';
const TRANSFORM_MS = 10_000;
const TRANSFORM_MB = 64;
/** For waiting until a process is free. */
const TRANSFORM_MARGIN_MS = 300_000;

/** The meta of the call, while `transformCode` runs. */
type ToolState = { readonly meta?: JsonObject };

export const tool: StepKind<ToolState> = {
  type: 'tool',
  class: 'effect',
  summary: 'Calls a tool of an MCP server.',
  description: `MCP servers are stored for the organization with \`PUT /api/mcp-servers/:name\`, and \`server\` names
one. Without it, the step uses the only server that has the tool. Constant input is checked against the tool's schema
when the definition is stored, if the server's tools have been listed.

- **Result.** The tool's structured result, otherwise its text. Other content, such as images, is in \`meta.content\`;
  where there is nothing else, the list of it is the result. A tool that reports a failure is \`tool_error\`.
- **transformCode.** JavaScript or TypeScript with \`export default function (result) { … }\`, which turns the result
  into the step's data, as \`run_code\` does.
- **Errors.** \`mcp_connect\`, \`mcp_timeout\`, \`mcp_answer\` (the server does not speak MCP) and a status of 429 or
  5xx (\`mcp_status\`) are retried. Requests that the server refuses (\`mcp_refused\`), tools that it lacks
  (\`unknown_tool\`, \`ambiguous_tool\`) and servers that are not stored (\`mcp_server_not_found\`) are not.
- **Idempotency.** Every attempt carries the same key, as \`signalbox/idempotencyKey\` in the call's \`_meta\`.
- **Destinations.** As for http: private addresses only where the host allows them. The same holds for servers that are
  programs.`,
  example: {
    stepType: 'tool',
    config: { server: 'github', toolName: 'create_issue', input: { title: 'Refund {{ input.orderId }}' } },
    nextSteps: { success: 'tell' },
  },
  output: "The tool's structured result, else its text. `meta` is `{server, content?}`.",
  schema: () =>
    configSchema({
      server: textTemplate().optional().describe('The name of the MCP server. Default: the one that has the tool.'),
      toolName: textTemplate().describe('The tool.'),
      input: templated(z.record(z.string(), anyValue())).optional().describe('The input of the tool. Default: {}.'),
      headers: templated(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])))
        .optional()
        .describe("Request headers in addition to the server's. They may contain secrets."),
      timeout: duration().optional().describe('Limit of one call (30s).'),
      transformCode: z.string().min(1).optional().describe('What makes the data of the result. No template.'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  needs: ({ server, toolName, input = {} }) => ({
    ...(server === undefined ? {} : { mcpServers: { names: server, at: '/server' } }),
    mcpTool: { ...omitUndefined({ server }), tool: toolName, input },
  }),
  plan(config, parse) {
    if (isAbsent(config['toolName'])) throw new ConfigError('/toolName', 'Expected the name of a tool.');
    const { transformCode } = config;
    if (transformCode !== undefined && typeof transformCode !== 'string')
      throw new ConfigError('/transformCode', 'Expected a module such as: export default function (result) { … }');
    const render = planMembers(config, ['server', 'toolName', 'input', 'headers'], '', (member) =>
      member === 'headers' ? parse.secretTemplate : parse.template,
    );
    const timeoutMs = isAbsent(config['timeout'])
      ? () => DEFAULT_TIMEOUT_MS
      : planDuration(config['timeout'], '/timeout', parse);
    return {
      begin(visit) {
        const { value, secrets } = render(visit);
        const { server, toolName, input, headers } = object(value, 'tool');
        const limitMs = timeoutMs(visit);
        const named = optionalText(server, 'server');
        const request: Json = {
          ...omitUndefined({ server: named }),
          toolName: text(toolName, 'toolName'),
          input: isAbsent(input) ? {} : object(input, 'input'),
          ...(isAbsent(headers) ? {} : { headers: object(headers, 'headers') }),
          timeout: durationMs(limitMs),
        };
        return { do: 'suspend', state: {}, run: [callSpec({ value: request, secrets }, limitMs)] };
      },
      resume: (visit, event) => resumeCall(visit, event, transformCode),
    };
  },
};

/** One call of a tool. `limitMs` limits the call itself. */
export function callSpec(config: RunSpec['config'], limitMs = DEFAULT_TIMEOUT_MS): RunSpec {
  return { activity: 'tool', config, timeoutMs: limitMs + MARGIN_MS, heartbeatMs: HEARTBEAT_MS };
}

function resumeCall(visit: OpenStepContext<ToolState>, event: Resume, code: string | undefined): Outcome<ToolState> {
  if (event.on !== 'completed' || code === undefined) return activityEnd(visit, event);
  const { data, meta } = event.result;
  // The call has ended: a failure of the code does not repeat it.
  if (event.suffix !== TRANSFORM)
    return { do: 'suspend', state: { meta: meta ?? {} }, run: [transformSpec(code, data)] };
  return { do: 'end', port: 'success', data, meta: { ...visit.state.meta, transform: meta ?? {} } };
}

function transformSpec(code: string, input: Json): RunSpec {
  const value = { language: 'typescript', code, input, timeoutMs: TRANSFORM_MS, memoryMb: TRANSFORM_MB };
  return {
    activity: 'runCode',
    suffix: TRANSFORM,
    config: { value, secrets: [] },
    timeoutMs: TRANSFORM_MS + TRANSFORM_MARGIN_MS,
    heartbeatMs: HEARTBEAT_MS,
    light: true,
    repeatable: true,
  };
}
