/** Lists the tools of an MCP server by an activity: the gateway itself connects to nobody. */
import { proxyActivities } from '@temporalio/workflow';
import type { EffectInput, EffectOutput } from '../src/definition/effect.ts';
import type { McpToolList, McpToolsInput } from '../src/definition/mcp-contract.ts';
import { MCP_TOOLS_WORKFLOW } from '../src/definition/mcp-contract.ts';

const LISTING_MS = 40_000;
const { listTools } = proxyActivities<{ listTools(input: EffectInput): Promise<EffectOutput> }>({
  startToCloseTimeout: LISTING_MS,
  retry: { maximumAttempts: 1 },
});

export async function mcpTools({ organizationId, server }: McpToolsInput): Promise<McpToolList> {
  const place = `${MCP_TOOLS_WORKFLOW}/${server}`;
  const { data } = await listTools({
    config: { server },
    secrets: [],
    idempotencyKey: place,
    path: place,
    stepSlug: MCP_TOOLS_WORKFLOW,
    execution: { id: place, workflow: MCP_TOOLS_WORKFLOW, organizationId },
  });
  return data as unknown as McpToolList;
}
