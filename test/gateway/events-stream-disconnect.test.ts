import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { expect, it } from 'vitest';
import { gatewayWithoutTemporal, NO_KEYS } from './gateway-support.ts';

const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;
type Service = Connection['workflowService'];
type HistoryRequest = { waitNewEvent?: boolean; execution: { workflowId: string } };

it('follows nothing for a listener who has disconnected before the run was looked up', async () => {
  const runId = '01234567-89ab-4def-8123-456789abcdef';
  const [gone, there] = ['run.default.a.gone', 'run.default.a.there'];
  const asked: string[] = [];
  const polls: string[] = [];
  let describes = (): void => undefined;
  const described = new Promise<void>((resolve) => {
    describes = resolve;
  });
  const gateway = await gatewayWithoutTemporal({}, NO_KEYS, {
    describeWorkflowExecution: (async ({ execution: { workflowId } }: { execution: { workflowId: string } }) => {
      asked.push(workflowId);
      await described;
      return DescribeWorkflowExecutionResponse.fromObject({
        workflowExecutionInfo: {
          execution: { workflowId, runId },
          type: { name: 'run' },
          status: 'WORKFLOW_EXECUTION_STATUS_RUNNING',
          startTime: { seconds: 1_700_000_000 },
          executionTime: { seconds: 1_700_000_000 },
          historyLength: 1,
          historySizeBytes: 1,
        },
      });
    }) as unknown as Service['describeWorkflowExecution'],
    getWorkflowExecutionHistory: (async ({ waitNewEvent, execution: { workflowId } }: HistoryRequest) => {
      if (waitNewEvent !== true) return { history: { events: [] } };
      polls.push(workflowId);
      await turn();
      return { history: { events: [] }, nextPageToken: new Uint8Array([1]) };
    }) as unknown as Service['getWorkflowExecutionHistory'],
  });
  const listen = (id: string, signal: AbortSignal) => fetch(`${gateway.url}/api/executions/${id}/events`, { signal });
  const leaving = new AbortController();
  const asking = listen(gone, leaving.signal);
  await expect.poll(() => asked).toEqual([gone]);
  leaving.abort();
  await expect(asking).rejects.toThrow();
  // The gateway has noticed it.
  await expect.poll(() => gateway.logged.join()).toContain('"aborted":true');
  describes();
  // Another listener, who comes later and stays, gets events of its run.
  const staying = new AbortController();
  await listen(there, staying.signal);
  await expect.poll(() => polls.filter((id) => id === there).length).toBeGreaterThan(2);
  expect(polls).not.toContain(gone);
  staying.abort();
  await gateway.close();
});
