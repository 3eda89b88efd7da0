import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { expect, it } from 'vitest';
import { lonelyGateway, NO_KEYS } from './gateway-support.ts';

const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;
type Service = Connection['workflowService'];

/** Temporal takes so long to describe a run, and to say that nothing new has come. */
const DESCRIBING_MS = 300;
const POLLING_MS = 50;

it('follows nothing for a listener who has gone before the run was looked up', async () => {
  const execution = { workflowId: 'run.default.a.b', runId: '01234567-89ab-4def-8123-456789abcdef' };
  let asked = 0;
  let polls = 0;
  const gateway = await lonelyGateway({}, NO_KEYS, {
    describeWorkflowExecution: (async () => {
      asked++;
      await delay(DESCRIBING_MS);
      return DescribeWorkflowExecutionResponse.fromObject({
        workflowExecutionInfo: {
          execution,
          type: { name: 'run' },
          status: 'WORKFLOW_EXECUTION_STATUS_RUNNING',
          startTime: { seconds: 1_700_000_000 },
          executionTime: { seconds: 1_700_000_000 },
          historyLength: 1,
          historySizeBytes: 1,
        },
      });
    }) as unknown as Service['describeWorkflowExecution'],
    getWorkflowExecutionHistory: (async ({ waitNewEvent }: { waitNewEvent?: boolean }) => {
      if (waitNewEvent !== true) return { history: { events: [] } };
      polls++;
      await delay(POLLING_MS);
      return { history: { events: [] }, nextPageToken: new Uint8Array([1]) };
    }) as unknown as Service['getWorkflowExecutionHistory'],
  });
  const gone = new AbortController();
  const asking = fetch(`${gateway.url}/api/executions/${execution.workflowId}/events`, { signal: gone.signal });
  await expect.poll(() => asked).toBe(1);
  gone.abort();
  await expect(asking).rejects.toThrow();
  // The run is looked up twice; then it would be followed.
  await delay(4 * DESCRIBING_MS);
  const before = polls;
  await delay(10 * POLLING_MS);
  expect(polls).toBe(before);
  await gateway.close();
});
