/**
 * Connections to MCP servers. They stay open for a while after their last use, because opening one takes three
 * messages, and for a server that is a program the start of a process. Failures are typed here.
 */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { MAX_TOOLS, type McpTool, mayStartProgram } from '../../src/contract/organization/mcp.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { activityErrorIn, type Fetch } from '../http/guarded-fetch.ts';
import { isRetryableStatus, networkErrorCode } from '../http/response.ts';
import { ActivityError, transientError } from '../runtime/failure.ts';
import type { Scrub } from '../runtime/scrub.ts';
import type { ActivityContext } from '../runtime/wrap-activity.ts';
import type { McpServer } from './servers.ts';

const CLIENT = { name: 'signalbox', version: '1' };
const CAPABILITIES: ConstructorParameters<typeof Client>[1] = {
  capabilities: {},
  // The SDK's validator would run regular expressions of untrusted schemas.
  jsonSchemaValidator: {
    getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
  },
};
const CONNECT_MS = 15_000;
const LIST_MS = 20_000;
/** An unused connection is closed after this time. */
const IDLE_MS = 60_000;
const MAX_PAGES = 50;
/** JSON-RPC codes that a retry does not change. */
const PERMANENT_CODES: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidRequest,
]);

const PARSE_ERROR_NAMES: ReadonlySet<string> = new Set(['SyntaxError', 'ZodError', '$ZodError']);
const MAX_QUOTED_CHARACTERS = 300;

interface McpSettings {
  readonly fetch: Fetch;
  /** Whether servers may be programs on this machine (SIGNALBOX_MCP_STDIO). */
  readonly stdio: boolean;
  /** Command lines that every organization may use (SIGNALBOX_MCP_COMMANDS). */
  readonly commands: readonly (readonly string[])[];
}

interface ToolCallRequest {
  readonly name: string;
  readonly input: JsonObject;
  readonly timeoutMs: number;
  readonly idempotencyKey: string;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly structured: Json | undefined;
  readonly content: readonly JsonObject[];
}

interface OpenConnection {
  readonly client: Promise<Client>;
  users: number;
  idle?: NodeJS.Timeout;
}

/** The connections of one process. */
export class McpConnections {
  readonly #settings: McpSettings;
  readonly #open = new Map<string, OpenConnection>();

  constructor(settings: McpSettings) {
    this.#settings = settings;
  }

  /** All tools of a server. @throws ActivityError */
  tools(server: McpServer, headers: Readonly<Record<string, string>>, context: ActivityContext): Promise<McpTool[]> {
    return this.#withConnection(server, headers, context, async (client) => {
      const found: McpTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES && found.length < MAX_TOOLS; page++) {
        const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, {
          signal: context.signal,
          timeout: LIST_MS,
        });
        for (const { name, title, description, inputSchema } of tools)
          found.push({
            name,
            inputSchema: inputSchema as JsonObject,
            ...omitUndefined({ title, description }),
          });
        cursor = nextCursor;
        if (cursor === undefined) break;
      }
      return found.slice(0, MAX_TOOLS);
    });
  }

  /** Calls a tool and passes its progress to the context. @throws ActivityError */
  call(
    server: McpServer,
    headers: Readonly<Record<string, string>>,
    request: ToolCallRequest,
    context: ActivityContext,
  ): Promise<ToolAnswer> {
    const { name, input, timeoutMs, idempotencyKey } = request;
    return this.#withConnection(server, headers, context, async (client) => {
      const answer = await client.callTool(
        { name, arguments: input, _meta: { 'signalbox/idempotencyKey': idempotencyKey } },
        undefined,
        {
          signal: context.signal,
          timeout: timeoutMs,
          onprogress: ({ progress, total, message }) =>
            context.progress(() => ({
              progress,
              ...omitUndefined({ total, message }),
            })),
        },
      );
      return {
        isError: answer.isError === true,
        structured: answer.structuredContent as Json | undefined,
        content: (answer.content ?? []) as JsonObject[],
      };
    });
  }

  /** Reconnects once if the server has lost the session. */
  async #withConnection<T>(
    server: McpServer,
    headers: Readonly<Record<string, string>>,
    context: ActivityContext,
    act: (client: Client) => Promise<T>,
  ): Promise<T> {
    const key = JSON.stringify([context.input.execution.organizationId, server.name, server.updatedAt, headers]);
    for (let again = true; ; again = false) {
      const wasOpen = this.#open.has(key);
      const open = this.#acquire(key, server, headers, context);
      try {
        return await act(await open.client);
      } catch (error) {
        const isForgotten = error instanceof StreamableHTTPError && (error.code === 404 || error.code === 400);
        if (!(error instanceof McpError) || error.code === ErrorCode.ConnectionClosed) this.#drop(key, open);
        if (again && wasOpen && (isForgotten || isClosed(error)) && !context.signal.aborted) continue;
        throw failureOf(error, server, context);
      } finally {
        this.#release(key, open);
      }
    }
  }

  #acquire(
    key: string,
    server: McpServer,
    headers: Readonly<Record<string, string>>,
    { input: { execution } }: ActivityContext,
  ): OpenConnection {
    let open = this.#open.get(key);
    if (open === undefined) {
      const client = new Client(CLIENT, CAPABILITIES);
      const begun: OpenConnection = {
        client: this.#connect(client, server, headers, execution.organizationId),
        users: 0,
      };
      open = begun;
      this.#open.set(key, begun);
      // A new connection may have replaced it before it closed.
      client.onclose = () => {
        if (this.#open.get(key) === begun) this.#open.delete(key);
      };
      begun.client.catch(() => this.#drop(key, begun));
    }
    clearTimeout(open.idle);
    open.users++;
    return open;
  }

  #release(key: string, open: OpenConnection): void {
    open.users--;
    if (open.users > 0) return;
    open.idle = setTimeout(() => this.#drop(key, open), IDLE_MS);
    open.idle.unref();
    if (this.#open.get(key) !== open) close(open);
  }

  /** Closes the connection after its last user. */
  #drop(key: string, open: OpenConnection): void {
    if (this.#open.get(key) === open) this.#open.delete(key);
    if (open.users === 0) close(open);
  }

  async #connect(
    client: Client,
    server: McpServer,
    headers: Readonly<Record<string, string>>,
    organizationId: string,
  ): Promise<Client> {
    client.onerror = () => undefined;
    await client.connect(this.#transport(server, headers, organizationId), { timeout: CONNECT_MS });
    return client;
  }

  #transport(server: McpServer, headers: Readonly<Record<string, string>>, organizationId: string): Transport {
    const { name, url, command, args = [] } = server;
    if (url !== undefined)
      return new StreamableHTTPClientTransport(new URL(url), {
        fetch: this.#settings.fetch,
        requestInit: { headers: { ...headers } },
      }) as Transport;
    if (command === undefined) throw new ActivityError('mcp_connect', `The MCP server '${name}' has no address.`);
    if (!this.#settings.stdio)
      throw new ActivityError(
        'mcp_stdio_disabled',
        `The MCP server '${name}' is a program, which this worker may not start. Set SIGNALBOX_MCP_STDIO=1 on ` +
          'the worker.',
      );
    // Checked when the entry was written too, but the list may have changed since.
    if (!mayStartProgram(organizationId, server, this.#settings.commands))
      throw new ActivityError(
        'mcp_command_not_allowed',
        `The MCP server '${name}' is a program that this worker does not start for the organization. Add its ` +
          'command line to SIGNALBOX_MCP_COMMANDS on the worker.',
      );
    // Not the worker's environment, which holds its secrets.
    return new StdioClientTransport({ command, args: [...args], env: getDefaultEnvironment(), stderr: 'ignore' });
  }
}

function close(open: OpenConnection): void {
  clearTimeout(open.idle);
  open.client.then((client) => client.close()).catch(() => undefined);
}

/** The server's or the SDK's explanation; nothing for an HTML page. */
function explanationIn({ message }: Error, scrub: Scrub): string {
  const said = scrub
    .text(message.replace(/^(Streamable HTTP error: )?(Error POSTing to endpoint: )?/, ''))
    .replace(/\s+/g, ' ')
    .trim();
  return said === '' || said.startsWith('<') ? '.' : `: ${said.slice(0, MAX_QUOTED_CHARACTERS).replace(/\.?$/, '.')}`;
}

function isClosed(error: unknown): boolean {
  return error instanceof McpError && error.code === ErrorCode.ConnectionClosed;
}

function failureOf(error: unknown, server: McpServer, { signal, scrub }: ActivityContext): unknown {
  if (signal.aborted) return error;
  const known = activityErrorIn(error);
  if (known !== undefined) return known;
  const name = `The MCP server '${server.name}'`;
  if (error instanceof McpError) {
    const said = scrub.text(error.message).slice(0, 1_000);
    if (error.code === ErrorCode.RequestTimeout)
      return transientError('mcp_timeout', `${name} did not answer in time.`);
    if (error.code === ErrorCode.ConnectionClosed)
      return transientError('mcp_connect', `${name} closed the connection.`);
    return new ActivityError('mcp_refused', `${name} refused: ${said}`, {
      retryable: !PERMANENT_CODES.has(error.code),
    });
  }
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code > 0)
    return new ActivityError('mcp_status', `${name} answered with status ${error.code}${explanationIn(error, scrub)}`, {
      retryable: isRetryableStatus(error.code),
      details: { status: error.code },
    });
  // An HTML page, or JSON of another protocol.
  if (error instanceof StreamableHTTPError || (error instanceof Error && PARSE_ERROR_NAMES.has(error.name)))
    return transientError(
      'mcp_answer',
      `${name} does not speak the MCP protocol${explanationIn(error, scrub)} Check its url.`,
    );
  if (error instanceof Error && error.name === 'UnauthorizedError')
    return new ActivityError('mcp_status', `${name} rejected the credentials.`, { details: { status: 401 } });
  return transientError(
    'mcp_connect',
    `No response from the MCP server '${server.name}' (${networkErrorCode(error)}).`,
    { reason: networkErrorCode(error) },
  );
}
