import { expect, it } from 'vitest';
import { alloyListQuery } from '../../src/compat/alloy/server/list-query.ts';
import { runListQuery } from '../../src/gateway/routes/executions/execution-list.ts';

it.each([
  ['aborted', ['aborted', 'cancelled']],
  ['in_progress', ['running', 'rolling_back']],
  ['aborted,denied,failed', ['aborted', 'cancelled', 'failed']],
  ['suspended', ['waiting']],
])('lists of alloy take under %s what they show under it, and others what it is', (status, shown) => {
  expect(alloyListQuery.parse({ status }).status).toEqual(shown);
  expect(runListQuery.parse({ status: 'aborted' }).status).toEqual(['aborted']);
  expect(alloyListQuery.parse({})).not.toHaveProperty('status');
  expect(alloyListQuery.parse({ exclude: '' }).exclude).toBe(false);
  expect(alloyListQuery.parse({ exclude: 'flow' }).exclude).toBe(true);
});
