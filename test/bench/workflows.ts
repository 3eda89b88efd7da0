/** What somebody would write by hand on Temporal for the same work: the other side of every row of the bench. */

import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActivityInput, ActivityOutput } from '../../src/contract/run/activity.ts';
import type { AgentTurn } from '../../src/contract/run/agent.ts';
import type { Json } from '../../src/json/json.ts';

const { http } = proxyActivities<{ http(input: ActivityInput): Promise<ActivityOutput> }>({
  startToCloseTimeout: 30_000,
  retry: { maximumAttempts: 3, initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 },
});

function input(n: number, config: Json = { url: `http://bench/${n}` }): ActivityInput {
  const { workflowId } = workflowInfo();
  return {
    config,
    secrets: [],
    idempotencyKey: `${workflowId}/${n}`,
    path: String(n),
    stepSlug: 'call',
    execution: { id: workflowId, workflow: 'bench', organizationId: 'default' },
  };
}

/** `count` activities, one after the other; the data of the last. */
export async function sequence(count: number): Promise<unknown> {
  let last: unknown = null;
  for (let n = 0; n < count; n++) last = (await http(input(n))).data;
  return last;
}

/** The same, continuing as new past `limit` events. */
export async function longSequence(count: number, limit: number, from = 0): Promise<unknown> {
  let last: unknown = null;
  for (let n = from; n < count; n++) {
    last = (await http(input(n))).data;
    if (workflowInfo().historyLength >= limit && n + 1 < count)
      await continueAsNew<typeof longSequence>(count, limit, n + 1);
  }
  return last;
}

/** `count` activities, `atOnce` at a time; all results in order. */
export async function fanOut(count: number, atOnce: number): Promise<unknown[]> {
  const results: unknown[] = new Array(count).fill(null);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) results[n] = (await http(input(n))).data;
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
  return results;
}

/** Waits for `approve`, then one activity. */
export async function approved(): Promise<unknown> {
  let done = false;
  setHandler(defineSignal('approve'), () => {
    done = true;
  });
  await condition(() => done);
  return (await http(input(0))).data;
}

const { agentTurn, tool } = proxyActivities<{
  agentTurn(input: ActivityInput): Promise<ActivityOutput>;
  tool(input: ActivityInput): Promise<ActivityOutput>;
}>({ startToCloseTimeout: 30_000, heartbeatTimeout: 30_000 });

const { runCode, noop } = proxyLocalActivities<{
  runCode(input: ActivityInput): Promise<ActivityOutput>;
  noop(input: ActivityInput): Promise<ActivityOutput>;
}>({ startToCloseTimeout: 2_000 });

/** `count` requests to `url`, one after the other. */
export async function requests(count: number, url: string): Promise<unknown> {
  let last: unknown = null;
  for (let n = 0; n < count; n++) last = (await http(input(n, { url }))).data;
  return last;
}

/** `count` scripts, or local activities that do nothing, one after the other. */
export async function scripts(count: number, config: Json): Promise<unknown> {
  let last: unknown = null;
  for (let n = 0; n < count; n++) last = (await (config === null ? noop : runCode)(input(n, config))).data;
  return last;
}

/** Asks the model, makes the calls that it wants at once, tells it their results, until it answers. */
export async function agent(request: { [member: string]: Json }): Promise<unknown> {
  let messages = request['messages'] as Json[];
  for (let turn = 0; ; turn++) {
    const { data } = await agentTurn(input(turn, { ...request, messages }));
    const { answer, calls, messages: said } = data as unknown as AgentTurn;
    if (calls.length === 0) return answer;
    const results = await Promise.all(
      calls.map(async ({ target, input: given }, n) => {
        if (target?.kind !== 'tool') throw new TypeError('The bench has tools only.');
        return (await tool(input(n, { server: target.server, toolName: target.tool, input: given }))).data;
      }),
    );
    messages = [...messages, ...(said as unknown as Json[]), { role: 'tool', content: results }];
  }
}
