/**
 * `/mcp/recordings/:id`: an MCP server that offers the tools of the organization's MCP servers, and records each call
 * as a step. Arguments may hold references to earlier steps, which are resolved before the call.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ContentBlockSchema,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type ClientError, hasCode } from '../../client/errors.ts';
import { type OfferedTool, offeredTools } from '../../client/recordings/offered-tools.ts';
import { type CalledTool, recordCall } from '../../client/recordings/record-call.ts';
import { demandRecording } from '../../client/recordings/recordings.ts';
import { unaudited } from '../../client/temporal/access.ts';
import { shortHash } from '../../contract/workflow-ids.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { releaseRequestSlot } from '../http/backpressure.ts';
import type { Principal } from '../http/principal.ts';
import { type Incoming, route } from '../http/route.ts';
import { jsonOf } from '../http/route-body.ts';
import { API_VERSION } from '../manual/openapi-document.ts';
import { recordingParams } from '../routes/recordings/recordings.ts';
import { nameText } from '../validation/validation.ts';
import { answerMessage, invalidParams, jsonRpcMessage, MESSAGE_ANSWERS } from './stateless-transport.ts';
import { refusalOf } from './tools.ts';

const INSTRUCTIONS = `Your tool calls are recorded as the steps of a workflow that can be run again.
Each answer names its step, such as get_user_1. Do not repeat a value of an earlier answer in the arguments of a later
call: write @get_user_1.id (also @get_user_1.items[0].name), alone or within a text. @input.NAME refers to the input
that the recording was begun with. References are replaced before the tool is called.`;

/** The member of a call's `_meta` that makes a repeated call the same call. Signalbox's own client sends it. */
const IDEMPOTENCY_KEY_META = 'signalbox/idempotencyKey';
/** The member of an answer's \`_meta\` with the name of the step. */
const STEP_META = 'signalbox/step';

export const recordingProxyRoutes = [
  route({
    method: 'POST',
    path: '/mcp/recordings/:id',
    role: 'editor',
    idempotency: 'none',
    id: 'recordingMcp',
    summary: "The tools of the organization's MCP servers; calls are recorded: an MCP server.",
    description:
      'Without sessions and without streams, as `/mcp`. `_meta` of a call may hold `signalbox/idempotencyKey`.',
    params: recordingParams,
    body: jsonOf(jsonRpcMessage),
    answers: MESSAGE_ANSWERS,
    problems: ['not_found', 'gone', 'outcome_unknown'],
    handle: async (call) => {
      await demandRecording(call.access, call.principal.organizationId, call.params.id);
      return answerMessage(call, serverFor);
    },
  }),
];

interface RecordedRequest extends Incoming {
  readonly principal: Principal;
  readonly params: { readonly id: string };
}

/** A server for one request. */
function serverFor(call: RecordedRequest, disconnected: AbortSignal): Server {
  const { gateway, access, principal, params, res } = call;
  const { organizationId, id: by } = principal;
  const info = { name: 'signalbox-recording', version: API_VERSION };
  const server = new Server(info, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const { tools, unavailable } = await offeredTools(unaudited(access), organizationId);
    for (const one of unavailable) gateway.log.warn(one, 'The tools of an MCP server are not offered to a recording.');
    return { tools: tools.map(shownTool) };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params: asked }): Promise<CallToolResult> => {
    const key = nameText(200).safeParse(asked._meta?.[IDEMPOTENCY_KEY_META]);
    try {
      const made = await recordCall(
        access,
        organizationId,
        params.id,
        {
          tool: asked.name,
          input: (asked.arguments ?? {}) as JsonObject,
          // Keys of different callers, and of the routes, are apart.
          ...omitUndefined({ by, key: key.success ? shortHash('mcp', by ?? '', key.data) : undefined }),
        },
        () => releaseRequestSlot(res),
      );
      return resultOf(made);
    } catch (error) {
      if (hasCode(error, 'unknown_tool')) throw invalidParams((error as ClientError).message);
      return refusalOf(error, gateway, disconnected);
    }
  });
  return server;
}

function shownTool({ name, server, tool }: OfferedTool): Tool {
  const { title, description, inputSchema } = tool;
  return {
    name,
    description: `${description ?? title ?? tool.name} (MCP server ${server})`,
    inputSchema: withReferences(inputSchema) as Tool['inputSchema'],
    ...omitUndefined({ title }),
  };
}

/** The tool's result as it was recorded, and the name of the step. */
function resultOf({ step, content }: CalledTool): CallToolResult {
  const { name, status, output = null, error } = step;
  const _meta = { [STEP_META]: name };
  if (status !== 'completed') {
    const { code = 'no_answer', message: reason = 'The call has not ended yet.' } = error ?? {};
    const text = `${code}: ${reason}\nRecorded as step ${name}, which has no output.`;
    return { isError: true, content: [{ type: 'text', text }], _meta };
  }
  const others = content.filter(isContent) as CallToolResult['content'];
  const note = `Recorded as step ${name}: refer to values of this answer as @${name} or @${name}.path.`;
  return {
    content: [
      ...(contentsIn(output) ?? [{ type: 'text', text: textOf(output) }]),
      ...others,
      { type: 'text', text: note },
    ],
    ...(isObject(output) ? { structuredContent: output } : {}),
    _meta,
  };
}

/** The output of a tool that answered neither text nor data: images and other content (activities/mcp/tool.ts). */
function contentsIn(output: Json): CallToolResult['content'] | undefined {
  const read = z.array(ContentBlockSchema).min(1).safeParse(output);
  return read.success && read.data.every(({ type }) => type !== 'text') ? read.data : undefined;
}

const textOf = (output: Json): string => (typeof output === 'string' ? output : JSON.stringify(output));

const isContent = (value: Json): boolean => isObject(value) && typeof value['type'] === 'string';

const REFERENCE: JsonObject = { type: 'string', pattern: '^@', description: 'A reference, such as @get_user_1.id.' };
const MAX_DEPTH = 10;
/** Members of a schema that hold more than a text of any form. */
const NARROWING_KEYWORDS = ['enum', 'const', 'format', 'pattern', 'maxLength', 'minLength'];

/**
 * The input schema of a tool, in which every value may also be a reference: `@step.path` stands for a value of any
 * type. The schema of the arguments as a whole stays an object.
 */
function withReferences(schema: JsonObject): JsonObject {
  return { ...allowInnerReferences(schema, 0), type: 'object' };
}

/** Allows references in the members and items of a schema. Schemas that others refer to by `$ref` stay as they are. */
function allowInnerReferences(schema: JsonObject, depth: number): JsonObject {
  const { properties, items } = schema;
  return {
    ...schema,
    ...(isObject(properties) ? { properties: mapProperties(properties, depth) } : {}),
    ...(isObject(items) ? { items: allowReference(items, depth) } : {}),
  };
}

const mapProperties = (properties: JsonObject, depth: number): JsonObject =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, allowReference(schema, depth)]));

function allowReference(schema: Json, depth: number): Json {
  if (!isObject(schema) || depth >= MAX_DEPTH) return schema;
  const isAnyText = schema['type'] === 'string' && !NARROWING_KEYWORDS.some((name) => schema[name] !== undefined);
  if (isAnyText) return schema;
  const { description, title, default: usual, ...rest } = schema;
  return {
    ...(description === undefined ? {} : { description }),
    ...(title === undefined ? {} : { title }),
    ...(usual === undefined ? {} : { default: usual }),
    anyOf: [allowInnerReferences(rest, depth + 1), REFERENCE],
  };
}
