// How many recordings an organization may have: the gateway asks Visibility, which is played here.
import { expect, it } from 'vitest';
import { gatewayWithoutTemporal } from './gateway-support.ts';

const NOT_FOUND = Object.assign(new Error('not found'), {
  code: 5,
  details: 'not found',
  metadata: { get: () => [] },
});
/** As protobufs give whole numbers. */
const longOf = (value: number) => ({ toNumber: () => value, valueOf: () => value });

/** The code with which a new recording is refused beside so many open ones. The gateway cannot write to Temporal. */
async function refusalBeside(open: number): Promise<string> {
  const countWorkflowExecutions = async ({ query = '' }: { query?: string }) => ({
    count: longOf(query.includes("WorkflowType = 'recording'") ? open : 0),
    groups: [],
  });
  const describeWorkflowExecution = () => Promise.reject(NOT_FOUND);
  const gateway = await gatewayWithoutTemporal({}, undefined, {
    countWorkflowExecutions,
    describeWorkflowExecution,
  } as never);
  try {
    const answer = await fetch(`${gateway.url}/api/recordings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Refund' }),
    });
    return ((await answer.json()) as { code: string }).code;
  } finally {
    await gateway.close();
  }
}

it('an organization has 1,000 open recordings at most', async () => {
  expect(await refusalBeside(999)).toBe('temporal_unreachable');
  expect(await refusalBeside(1_000)).toBe('too_many');
});
