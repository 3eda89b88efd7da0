/** Counts the workflows of a query. Visibility may lag by a second. */
import { ClientError } from '../errors.ts';
import type { Access } from '../temporal/access.ts';
import { isInvalidArgument, read } from '../temporal/rpc.ts';

/** @throws ClientError `invalid_query` where Visibility cannot read a filter's value. */
export async function countOf(access: Access, query: string): Promise<number> {
  try {
    const { count: found } = await read(access, () =>
      access.client.workflowService.countWorkflowExecutions({ namespace: access.namespace, query }),
    );
    return Number(found ?? 0);
  } catch (error) {
    if (!isInvalidArgument(error)) throw error;
    throw new ClientError('invalid_query', 'A filter has a value that cannot be searched for. Check types and dates.', {
      cause: error,
    });
  }
}
