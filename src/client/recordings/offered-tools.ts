/** The tools of an organization's MCP servers, under names of their own. */
import { ulid } from 'ulid';
import type { McpTool } from '../../contract/mcp.ts';
import { ClientError } from '../errors.ts';
import { knownTools, listServers, readTools } from '../organization/mcp-servers.ts';
import type { Access, WriteAccess } from '../temporal/access.ts';

/** Many models take no longer names, and no other characters. */
const LONGEST_NAME = 64;
const MOST_NAMED = 5;

export interface OfferedTool {
  /** The tool's own name, or `server_tool` where several servers have it. */
  readonly name: string;
  readonly server: string;
  readonly tool: McpTool;
}

/** A server whose tools cannot be listed now. */
interface SilentServer {
  readonly server: string;
  readonly reason: string;
}

/** The tools of all servers, listed by a worker where no recent list is kept. */
export async function offeredTools(
  access: WriteAccess,
  org: string,
): Promise<{ readonly tools: readonly OfferedTool[]; readonly silent: readonly SilentServer[] }> {
  const silent: SilentServer[] = [];
  const lists = await Promise.all(
    (await listServers(access, org)).map(async ({ name }) => {
      try {
        return [name, (await readTools(access, org, name, false)).tools] as const;
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        silent.push({ server: name, reason: error.message });
        return [name, []] as const;
      }
    }),
  );
  return { tools: named(lists), silent };
}

/**
 * The tool of a name, which may be that of offeredTools, the tool's own, or `server/tool`.
 * @throws ClientError `unknown_tool`, `ambiguous_tool`, `mcp_server_not_found`.
 */
export async function findTool(access: WriteAccess, org: string, name: string, server?: string): Promise<OfferedTool> {
  // The lists that are kept, however old: most calls find their tool there.
  const kept = chosen(named([...(await keptLists(access, org))]), name, server);
  if (kept.length === 1) return kept[0]!;
  const { tools, silent } = await offeredTools(access, org);
  const found = chosen(tools, name, server);
  const [only, ...others] = found;
  if (only === undefined) throw unknownTool(name, server, silent);
  if (others.length === 0) return only;
  const servers = found.slice(0, MOST_NAMED).map((one) => one.server);
  throw new ClientError(
    'ambiguous_tool',
    `Several MCP servers have a tool "${name.slice(0, 80)}": name one of ${servers.join(', ')}.`,
    { details: { servers } },
  );
}

async function keptLists(access: Access, org: string): Promise<(readonly [string, readonly McpTool[]])[]> {
  return [...(await knownTools(access, org))].map(([server, tools]) => [server, tools ?? []] as const);
}

function chosen(tools: readonly OfferedTool[], name: string, server: string | undefined): OfferedTool[] {
  const here = server === undefined ? tools : tools.filter((one) => one.server === server);
  const offered = here.filter((one) => one.name === name);
  if (offered.length > 0) return offered;
  return here.filter(({ server: of, tool }) => tool.name === name || `${of}/${tool.name}` === name);
}

function unknownTool(name: string, server: string | undefined, silent: readonly SilentServer[]): ClientError {
  const where = server === undefined ? 'No MCP server of the organization has' : `The MCP server '${server}' has not`;
  const why = silent.slice(0, MOST_NAMED).map((one) => ` ${one.reason}`);
  return new ClientError('unknown_tool', `${where} a tool "${name.slice(0, 80)}".${why.join('')}`);
}

/** Each tool once, by names that are valid and unique. */
function named(lists: readonly (readonly [server: string, tools: readonly McpTool[]])[]): OfferedTool[] {
  const all = lists.flatMap(([server, tools]) => tools.map((tool) => ({ server, tool })));
  const counts = new Map<string, number>();
  for (const { tool } of all) counts.set(safe(tool.name), (counts.get(safe(tool.name)) ?? 0) + 1);
  const taken = new Set<string>();
  return all.map(({ server, tool }) => {
    const plain = safe(tool.name);
    const isShared = (counts.get(plain) ?? 0) > 1;
    let name = isShared ? safe(`${server}_${tool.name}`) : plain;
    for (let n = 2; taken.has(name); n++) name = `${plain.slice(0, LONGEST_NAME - 4)}_${n}`;
    taken.add(name);
    return { name, server, tool };
  });
}

const safe = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST_NAME) || ulid();
