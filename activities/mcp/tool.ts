/** The activities `tool` and `listTools` of MCP servers. src/steps/kinds/tool.ts documents the step. */

import { type McpToolList, TOOLS_FRESH_MS } from '../../src/contract/organization/mcp.ts';
import type { ActivityInput, ActivityOutput } from '../../src/contract/run/activity.ts';
import { asJson, isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { ActivityError, invalidConfig } from '../runtime/failure.ts';
import type { ActivityContext, ActivityHandler } from '../runtime/wrap-activity.ts';
import type { McpConnections, ToolAnswer } from './connections.ts';
import { callStore, headersOf, type McpServer, type McpServerStore, type ServedTool } from './servers.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_ERROR_CHARACTERS = 4_000;
const MAX_LISTED_SERVERS = 5;

export function toolActivity(store: McpServerStore | undefined, connections: McpConnections): ActivityHandler {
  return async (config, context) => {
    if (!isObject(config)) throw invalidConfig('toolName', 'given');
    const { toolName, input, timeout, headers } = config;
    if (typeof toolName !== 'string' || toolName === '') throw invalidConfig('toolName', 'a text');
    if (input !== undefined && !isObject(input)) throw invalidConfig('input', 'an object');
    const server = await serverOf(config, toolName, store, connections, context);
    const answer = await connections.call(
      server,
      { ...(await headersOf(server, context)), ...headerTexts(headers) },
      {
        name: toolName,
        input: input ?? {},
        timeoutMs: typeof timeout === 'number' ? timeout : DEFAULT_TIMEOUT_MS,
        idempotencyKey: context.input.idempotencyKey,
      },
      context,
    );
    return outputOf(server, toolName, answer, context);
  };
}

export function listToolsActivity(store: McpServerStore | undefined, connections: McpConnections): ActivityHandler {
  return async (config, context) => {
    const { organizationId } = context.input.execution;
    const name = isObject(config) ? String(config['server']) : '';
    const server = await callStore(store, (from) => from.read(organizationId, name));
    return { data: asJson(await listAndCacheTools(server, store, connections, context)) };
  };
}

/** The host that receives the secrets of a tool step's headers; undefined if the step names no server. */
export function toolHostOf(store: McpServerStore | undefined) {
  return async ({ config, secrets, execution }: ActivityInput): Promise<string | undefined> => {
    const name = isObject(config) ? config['server'] : undefined;
    if (secrets.length === 0 || typeof name !== 'string') return undefined;
    const { url } = await callStore(store, (from) => from.read(execution.organizationId, name));
    return url === undefined ? undefined : new URL(url).host;
  };
}

/**
 * The tools of the named servers, or of all servers if `names` is undefined. Fresh cached lists are used. In the second
 * case a server that does not answer contributes its cached list, as long as every tool in `wanted` (`tool` or
 * `server/tool`) is found.
 * @throws ActivityError
 */
export async function servedTools(
  names: readonly string[] | undefined,
  wanted: readonly string[],
  store: McpServerStore | undefined,
  connections: McpConnections,
  context: ActivityContext,
): Promise<ServedTool[]> {
  const { organizationId } = context.input.execution;
  const servers = await callStore(store, (from) =>
    names === undefined ? from.list(organizationId) : Promise.all(names.map((name) => from.read(organizationId, name))),
  );
  const failures: unknown[] = [];
  const lists = await Promise.all(
    servers.map(async (server) => {
      const cached = await callStore(store, (from) => from.cachedTools(organizationId, server));
      const isFresh = cached !== undefined && Date.now() - Date.parse(cached.listedAt) < TOOLS_FRESH_MS;
      const { tools } = isFresh
        ? cached
        : await listAndCacheTools(server, store, connections, context).catch((error: unknown) => {
            if (names !== undefined || context.signal.aborted) throw error;
            failures.push(error);
            return cached ?? { tools: [] };
          });
      return tools.map((tool) => ({ server, tool }));
    }),
  );
  const found = lists.flat();
  if (failures.length > 0 && !wanted.every((name) => found.some((one) => hasToolName(one, name)))) throw failures[0];
  return found;
}

/** Whether `name` (`tool` or `server/tool`) refers to this tool. */
export function hasToolName({ server, tool }: ServedTool, name: string): boolean {
  return tool.name === name || `${server.name}/${tool.name}` === name;
}

async function listAndCacheTools(
  server: McpServer,
  store: McpServerStore | undefined,
  connections: McpConnections,
  context: ActivityContext,
): Promise<McpToolList> {
  const found = await connections.tools(server, await headersOf(server, context), context);
  // A server may repeat the headers of the request in its descriptions, and the list is stored and shown.
  const tools = (await context.scrub.jsonInSlices(asJson(found))) as unknown as McpToolList['tools'];
  const list: McpToolList = { tools, listedAt: new Date().toISOString(), of: server.updatedAt };
  // If the list cannot be cached, the next step lists again.
  await callStore(store, (from) => from.cacheTools(context.input.execution.organizationId, server.name, list)).catch(
    () => undefined,
  );
  return list;
}

/** The named server, or the only one that has the tool. */
async function serverOf(
  { server: name }: JsonObject,
  toolName: string,
  store: McpServerStore | undefined,
  connections: McpConnections,
  context: ActivityContext,
): Promise<McpServer> {
  if (typeof name === 'string' && name !== '')
    return callStore(store, (from) => from.read(context.input.execution.organizationId, name));
  const offered = (await servedTools(undefined, [toolName], store, connections, context)).filter(
    ({ tool }) => tool.name === toolName,
  );
  const [only, ...others] = offered;
  if (only === undefined)
    throw new ActivityError('unknown_tool', `No MCP server of the organization has a tool '${toolName}'.`);
  if (others.length === 0) return only.server;
  const names = offered.slice(0, MAX_LISTED_SERVERS).map(({ server }) => `'${server.name}'`);
  throw new ActivityError(
    'ambiguous_tool',
    `Several MCP servers have a tool '${toolName}': name one of ${names.join(', ')}.`,
  );
}

function outputOf(server: McpServer, toolName: string, answer: ToolAnswer, { scrub }: ActivityContext): ActivityOutput {
  const contentText = textOf(answer.content);
  if (answer.isError)
    throw new ActivityError(
      'tool_error',
      `The tool '${toolName}' failed: ` +
        scrub.text(contentText ?? 'it gave no reason.').slice(0, MAX_ERROR_CHARACTERS),
    );
  const others = answer.content.filter(({ type }) => type !== 'text');
  const data = answer.structured ?? contentText ?? (others.length === 0 ? null : others);
  return {
    data,
    meta: { server: server.name, ...(others.length === 0 || data === others ? {} : { content: others }) },
  };
}

function textOf(content: ToolAnswer['content']): string | undefined {
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}

function headerTexts(headers: Json | undefined): { [name: string]: string } {
  if (!isObject(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );
}
