/** Starts the workflow that holds a version or a text of a definition. */
import { type TextStart, VERSION_WORKFLOW, type VersionStart } from '../../contract/actors.ts';
import type { WriteAccess } from '../temporal/access.ts';
import { startUnlessTaken } from '../temporal/actor-calls.ts';
import { actorAttributes } from '../temporal/namespace-division.ts';

/** One that runs already holds the same, since its id names the hash. */
export async function startVersion(
  access: WriteAccess,
  workflowId: string,
  start: VersionStart | TextStart,
): Promise<void> {
  await startUnlessTaken(access, 'rest', VERSION_WORKFLOW, {
    workflowId,
    args: [start],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    ...(await actorAttributes(access)),
    staticSummary: `${start.slug} ${start.hash.slice(0, 19)}`,
  });
}
