/**
 * Versions of workers: Temporal's Worker Deployments. Every workflow continues with the current version, so the newest
 * version has to become current, and an earlier one that is only restarted must not.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { isGrpcServiceError } from '@temporalio/client';
import { GRPC } from './grpc.ts';
import { msOf } from './timestamps.ts';

type Service = Pick<Connection['workflowService'], 'describeWorkerDeployment' | 'setWorkerDeploymentCurrentVersion'>;

export interface WorkerVersion {
  readonly namespace: string;
  readonly deploymentName: string;
  readonly buildId: string;
}

/** Temporal did not see the worker poll in time. */
class VersionUnknownError extends Error {
  readonly code = 'version_unknown';
  constructor({ deploymentName, buildId }: WorkerVersion) {
    super(
      `Temporal does not know the version ${buildId} of the deployment ${deploymentName} after ` +
        `${VERSION_TIMEOUT_MS / 1_000} s. Once it does, make it current: temporal worker deployment ` +
        `set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`,
    );
    this.name = 'VersionUnknownError';
  }
}

const POLL_MS = 200;
/** How long to wait for Temporal to know the version, which it does once its first worker polls. */
const VERSION_TIMEOUT_MS = 30_000;
const IDENTITY = 'signalbox';

/** The state of a deployment. */
interface Deployment {
  readonly conflictToken: Uint8Array;
  /** Undefined: tasks go to workers without a version. */
  readonly current: string | undefined;
  /** When each version polled first, in epoch milliseconds. */
  readonly firstPolledAt: ReadonlyMap<string, number>;
}

/**
 * Makes the version of a polling worker the current one, unless a later version is current. `newer`: the current
 * version stays, as for a worker of an earlier version that was restarted during an upgrade.
 * @throws VersionUnknownError; errors of gRPC, such as a refused permission.
 */
export async function setCurrentVersion(
  { workflowService }: { readonly workflowService: Service },
  version: WorkerVersion,
): Promise<'already' | 'set' | 'newer'> {
  const { namespace, deploymentName, buildId } = version;
  const deadline = Date.now() + VERSION_TIMEOUT_MS;
  for (; ; await delay(POLL_MS)) {
    if (Date.now() > deadline) throw new VersionUnknownError(version);
    const found = await readDeployment(workflowService, namespace, deploymentName);
    const ownFirstPollAt = found?.firstPolledAt.get(buildId);
    if (found === undefined || ownFirstPollAt === undefined) continue;
    const { current, conflictToken } = found;
    if (current === buildId) return 'already';
    if (current !== undefined && (found.firstPolledAt.get(current) ?? 0) > ownFirstPollAt) return 'newer';
    try {
      await workflowService.setWorkerDeploymentCurrentVersion({
        namespace,
        deploymentName,
        buildId,
        conflictToken,
        identity: IDENTITY,
        // A worker polls its queue for workflows before the one for activities.
        ignoreMissingTaskQueues: true,
      });
      return 'set';
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
  }
}

/** The build id of the current version; undefined where there is none. */
export async function currentVersion(
  { workflowService }: { readonly workflowService: Service },
  namespace: string,
  deploymentName: string,
): Promise<string | undefined> {
  return (await readDeployment(workflowService, namespace, deploymentName))?.current;
}

async function readDeployment(
  service: Service,
  namespace: string,
  deploymentName: string,
): Promise<Deployment | undefined> {
  try {
    const { conflictToken, workerDeploymentInfo } = await service.describeWorkerDeployment({
      namespace,
      deploymentName,
    });
    return {
      conflictToken: conflictToken ?? new Uint8Array(),
      current: workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId ?? undefined,
      firstPolledAt: new Map(
        (workerDeploymentInfo?.versionSummaries ?? []).map(({ deploymentVersion, createTime }) => [
          deploymentVersion?.buildId ?? '',
          msOf(createTime) ?? 0,
        ]),
      ),
    };
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === GRPC.NOT_FOUND) return undefined;
    throw error;
  }
}

/** Another worker changed the deployment meanwhile, or it is busy. */
const isTransient = (error: unknown): boolean =>
  isGrpcServiceError(error) &&
  [GRPC.FAILED_PRECONDITION, GRPC.ABORTED, GRPC.UNAVAILABLE, GRPC.RESOURCE_EXHAUSTED].includes(error.code as never);
