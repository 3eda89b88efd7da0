/** Lists the tools of an MCP server by an activity: the gateway itself connects to nobody. */
import { proxyActivities } from '@temporalio/workflow';
import type { ActivityInput, ActivityOutput } from '../../src/contract/activity.ts';
import type { McpToolList, McpToolsInput } from '../../src/contract/mcp.ts';

const LISTING_MS = 40_000;
/** As the workflow that secrets may be bound to; it can be written into a secret's allowedWorkflows. */
const SLUG = 'mcp-tools';
const { listTools } = proxyActivities<{ listTools(input: ActivityInput): Promise<ActivityOutput> }>({
  startToCloseTimeout: LISTING_MS,
  retry: { maximumAttempts: 1 },
});

export async function mcpTools({ organizationId, server }: McpToolsInput): Promise<McpToolList> {
  const place = `${SLUG}/${server}`;
  const { data } = await listTools({
    config: { server },
    secrets: [],
    idempotencyKey: place,
    path: place,
    stepSlug: SLUG,
    execution: { id: place, workflow: SLUG, organizationId },
  });
  return data as unknown as McpToolList;
}
