/** The tools of an organization's MCP servers, under names of their own. */
import { ulid } from 'ulid';
import type { McpTool } from '../../contract/organization/mcp.ts';
import { ClientError } from '../errors.ts';
import { knownTools, listServers, readTools } from '../organization/mcp-servers.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';

/** Many models take no longer names, and no other characters. */
const MAX_TOOL_NAME_LENGTH = 64;
const MAX_LISTED_SERVERS = 5;

export interface OfferedTool {
  /** The tool's own name, or `server_tool` where several servers have it. */
  readonly name: string;
  readonly server: string;
  readonly tool: McpTool;
}

/** A server whose tools cannot be listed now. */
interface UnavailableServer {
  readonly server: string;
  readonly reason: string;
}

/** The tools of all servers, listed by a worker where no recent list is kept. */
export async function offeredTools(
  access: WriteAccess,
  org: string,
): Promise<{ readonly tools: readonly OfferedTool[]; readonly unavailable: readonly UnavailableServer[] }> {
  const unavailable: UnavailableServer[] = [];
  const lists = await Promise.all(
    (await listServers(access, org)).map(async ({ name }) => {
      try {
        return [name, (await readTools(access, org, name, false)).tools] as const;
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        unavailable.push({ server: name, reason: error.message });
        return [name, []] as const;
      }
    }),
  );
  return { tools: withUniqueNames(lists), unavailable };
}

/**
 * The tool of a name, which may be that of offeredTools, the tool's own, or `server/tool`.
 * @throws ClientError `unknown_tool`, `ambiguous_tool`, `mcp_server_not_found`.
 */
export async function findTool(access: WriteAccess, org: string, name: string, server?: string): Promise<OfferedTool> {
  // The lists that are kept, however old: most calls find their tool there.
  const stored = matchingTools(withUniqueNames([...(await storedToolLists(access, org))]), name, server);
  if (stored.length === 1) return stored[0]!;
  const { tools, unavailable } = await offeredTools(access, org);
  const found = matchingTools(tools, name, server);
  const [only, ...others] = found;
  if (only === undefined) throw unknownTool(name, server, unavailable);
  if (others.length === 0) return only;
  const servers = found.slice(0, MAX_LISTED_SERVERS).map((one) => one.server);
  throw new ClientError(
    'ambiguous_tool',
    `Several MCP servers have a tool "${name.slice(0, 80)}": name one of ${servers.join(', ')}.`,
    { details: { servers } },
  );
}

async function storedToolLists(access: Access, org: string): Promise<(readonly [string, readonly McpTool[]])[]> {
  return [...(await knownTools(access, org))].map(([server, tools]) => [server, tools ?? []] as const);
}

function matchingTools(tools: readonly OfferedTool[], name: string, server: string | undefined): OfferedTool[] {
  const candidates = server === undefined ? tools : tools.filter((one) => one.server === server);
  const offered = candidates.filter((one) => one.name === name);
  if (offered.length > 0) return offered;
  return candidates.filter(
    ({ server: toolServer, tool }) => tool.name === name || `${toolServer}/${tool.name}` === name,
  );
}

function unknownTool(name: string, server: string | undefined, unavailable: readonly UnavailableServer[]): ClientError {
  const where = server === undefined ? 'No MCP server of the organization has' : `The MCP server '${server}' has not`;
  const why = unavailable.slice(0, MAX_LISTED_SERVERS).map((one) => ` ${one.reason}`);
  return new ClientError('unknown_tool', `${where} a tool "${name.slice(0, 80)}".${why.join('')}`);
}

/** Each tool once, by names that are valid and unique. */
function withUniqueNames(lists: readonly (readonly [server: string, tools: readonly McpTool[]])[]): OfferedTool[] {
  const all = lists.flatMap(([server, tools]) => tools.map((tool) => ({ server, tool })));
  const counts = new Map<string, number>();
  for (const { tool } of all)
    counts.set(sanitizeToolName(tool.name), (counts.get(sanitizeToolName(tool.name)) ?? 0) + 1);
  const taken = new Set<string>();
  return all.map(({ server, tool }) => {
    const plain = sanitizeToolName(tool.name);
    const isShared = (counts.get(plain) ?? 0) > 1;
    let name = isShared ? sanitizeToolName(`${server}_${tool.name}`) : plain;
    for (let n = 2; taken.has(name); n++) name = `${plain.slice(0, MAX_TOOL_NAME_LENGTH - 4)}_${n}`;
    taken.add(name);
    return { name, server, tool };
  });
}

const sanitizeToolName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_TOOL_NAME_LENGTH) || ulid();
