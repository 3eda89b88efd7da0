import { WorkflowNotFoundError } from '@temporalio/common';
import { expect, it } from 'vitest';
import { ClientError } from '../../src/client/errors.ts';
import { type Access, unaudited } from '../../src/client/temporal/access.ts';
import { claimTriggers } from '../../src/client/triggers/triggers.ts';

it('reports why a name cannot be claimed, also where claimed names cannot be released', async () => {
  const given: string[] = [];
  const handleOf = (id: string) => ({
    describe: async () => {
      throw new WorkflowNotFoundError('There is none.', id, undefined);
    },
    executeUpdate: async (update: string) => {
      given.push(update);
      throw new ClientError('temporal_unreachable', 'Temporal is unavailable.');
    },
  });
  let claims = 0;
  const client = {
    withDeadline: (_at: number, act: () => Promise<unknown>) => act(),
    workflow: {
      getHandle: handleOf,
      count: async () => ({ count: 0 }),
      executeUpdateWithStart: async () => {
        if (++claims > 1) throw new ClientError('trigger_exists', 'The API has made one.');
        return { claimed: true };
      },
    },
  };
  const access = unaudited({ client, taskQueue: 'none' } as unknown as Access);
  await expect(claimTriggers(access, 'default', 'a', ['one', 'two'])).rejects.toMatchObject({ code: 'trigger_exists' });
  expect(given).toEqual(['release']);
});
