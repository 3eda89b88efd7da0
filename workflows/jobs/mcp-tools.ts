/** The workflow `mcpTools`: lists the tools of an MCP server, since the gateway itself connects to no other server. */
import { proxyActivities } from '@temporalio/workflow';
import type { McpToolList, McpToolsInput } from '../../src/contract/organization/mcp.ts';
import type { ActivityInput, ActivityOutput } from '../../src/contract/run/activity.ts';

const LISTING_MS = 40_000;
/** The slug that a secret's `allowedWorkflows` names to allow this listing. */
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
