/**
 * An organization's MCP servers, and their tools. The gateway connects to no server, because it may reach less than a
 * worker. A worker lists the tools, and the last list is kept beside the server's entry.
 */

import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  MCP_TOOLS_WORKFLOW,
  type McpServerEntry,
  type McpToolList,
  type McpToolsInput,
  TOOL_LIST_BYTES,
  TOOLS_FRESH_MS,
} from '../../contract/organization/mcp.ts';
import { exactJsonBytes } from '../../json/bytes.ts';
import { ClientError, onCode } from '../errors.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';
import { mcpToolsId } from '../temporal/ids.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';
import { writeUnqueued } from '../temporal/rpc.ts';
import { deleteEntry, listEntries, putEntry, readEntry } from './organization-entries.ts';

const SERVERS = 'mcp-servers';
const TOOLS = 'mcp-tools';
/** A worker lists the tools, or reports an error, within thirty seconds. */
const LISTING_TIMEOUT_MS = 45_000;

export type McpServerSettings = Omit<McpServerEntry, 'updatedAt'>;
type McpServerView = McpServerEntry & { readonly name: string };

/** Stores a server, and replaces one with the same name. @throws ClientError `too_large`, `too_many`. */
export async function putServer(
  access: WriteAccess,
  org: string,
  name: string,
  settings: McpServerSettings,
): Promise<{ created: boolean; server: McpServerView }> {
  const entry: McpServerEntry = { ...settings, updatedAt: new Date().toISOString() };
  const { created } = await putEntry(access, org, SERVERS, name, entry);
  return { created, server: { name, ...entry } };
}

/** @throws ClientError `mcp_server_not_found`. */
export async function getServer(access: Access, org: string, name: string): Promise<McpServerView> {
  const entry = await readEntry<McpServerEntry>(access, org, SERVERS, name);
  if (entry === undefined) throw serverNotFound(name);
  return { name, ...entry };
}

/** All servers, by name. */
export async function listServers(access: Access, org: string): Promise<McpServerView[]> {
  return (await listEntries<McpServerEntry>(access, org, SERVERS)).map(([name, entry]) => ({ name, ...entry }));
}

/** @throws ClientError `mcp_server_not_found`. */
export async function deleteServer(access: WriteAccess, org: string, name: string): Promise<void> {
  await deleteEntry(access, org, SERVERS, name, () => serverNotFound(name));
  await deleteEntry(access, org, TOOLS, name).catch(onCode('not_found', () => undefined));
}

/** The stored list of a server's tools. Undefined where an earlier entry of the server produced it. */
export async function storedTools(
  access: Access,
  org: string,
  server: McpServerView,
): Promise<McpToolList | undefined> {
  const list = await readEntry<McpToolList>(access, org, TOOLS, server.name);
  return list?.of === server.updatedAt ? list : undefined;
}

/** Stores a list of tools. A list that is too large is not stored, so a worker lists the tools each time. */
export async function storeTools(access: WriteAccess, org: string, server: string, list: McpToolList): Promise<void> {
  if (exactJsonBytes(list) > TOOL_LIST_BYTES) return;
  await putEntry(access, org, TOOLS, server, list).catch(onCode(['too_large', 'too_many'], () => undefined));
}

/** Every server with its known tools, fresh or not. The checker checks definitions against them. */
export async function knownTools(
  access: Access,
  org: string,
): Promise<ReadonlyMap<string, McpToolList['tools'] | undefined>> {
  const [servers, lists] = await Promise.all([
    listEntries<McpServerEntry>(access, org, SERVERS),
    listEntries<McpToolList>(access, org, TOOLS),
  ]);
  const listByServer = new Map(lists);
  return new Map(
    servers.map(([name, { updatedAt }]) => {
      const list = listByServer.get(name);
      return [name, list?.of === updatedAt ? list.tools : undefined];
    }),
  );
}

/**
 * The tools of a server: the stored list while it is fresh, unless `refresh` is set; else a worker lists them.
 * @throws ClientError `mcp_server_not_found`, `mcp_server_failed` with the reason in its details.
 */
export async function readTools(
  access: WriteAccess,
  org: string,
  name: string,
  refresh: boolean,
): Promise<McpToolList> {
  const server = await getServer(access, org, name);
  const stored = await storedTools(access, org, server);
  if (!refresh && stored !== undefined && Date.now() - Date.parse(stored.listedAt) < TOOLS_FRESH_MS) return stored;
  const attributes = await actorAttributes(access);
  const handle = await writeUnqueued(access, 'rest', () =>
    access.client.workflow.start<(input: McpToolsInput) => Promise<McpToolList>>(MCP_TOOLS_WORKFLOW, {
      workflowId: mcpToolsId(org, name),
      taskQueue: access.taskQueue,
      args: [{ organizationId: org, server: name }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowExecutionTimeout: LISTING_TIMEOUT_MS,
      ...attributes,
    }),
  );
  try {
    return await handle.result();
  } catch (error) {
    throw listingError(name, error);
  }
}

function listingError(name: string, error: unknown): unknown {
  if (!(error instanceof WorkflowFailedError)) return error;
  let { cause } = error as { cause?: Error };
  while (cause !== undefined && !(cause instanceof ApplicationFailure)) cause = cause.cause as Error | undefined;
  const code = cause instanceof ApplicationFailure ? (cause.type ?? 'unknown') : 'no_answer';
  const why = cause === undefined ? 'No worker has listed its tools in time.' : cause.message;
  return new ClientError('mcp_server_failed', `The tools of '${name}' cannot be listed: ${why}`, {
    details: { code },
    cause: error,
  });
}

const serverNotFound = (name: string): ClientError =>
  new ClientError(
    'mcp_server_not_found',
    `There is no MCP server called ${name}. Store it with PUT /api/mcp-servers/${encodeURIComponent(name)}.`,
  );
