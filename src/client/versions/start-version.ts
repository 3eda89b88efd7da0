/** Starts the workflow that holds a version or a text of a definition. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type TextStart, VERSION_WORKFLOW, type VersionStart } from '../../contract/actors.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { actorAttributes } from '../temporal/division.ts';
import { write } from '../temporal/rpc.ts';

/** One that runs already holds the same, since its id names the hash. */
export async function startVersion(
  access: WriteAccess,
  workflowId: string,
  start: VersionStart | TextStart,
): Promise<void> {
  const apart = await actorAttributes(access);
  await write(access, 'rest', workflowId, async () => {
    try {
      await access.client.workflow.start(VERSION_WORKFLOW, {
        workflowId,
        taskQueue: access.taskQueue,
        args: [start],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        ...apart,
        staticSummary: `${start.slug} ${start.hash.slice(0, 19)}`,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  });
}
