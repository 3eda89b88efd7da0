/**
 * Versions of workers: Temporal's Worker Deployments. Every workflow goes on with the current version, so the newest
 * one has to become current, and one that is only restarted must not.
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
        `${KNOWN_MS / 1_000} s. Once it does, make it current: temporal worker deployment set-current-version ` +
        `--deployment-name ${deploymentName} --build-id ${buildId}`,
    );
    this.name = 'VersionUnknownError';
  }
}

const POLL_MS = 200;
/** A version is known once its first worker polls. */
const KNOWN_MS = 30_000;
const IDENTITY = 'signalbox';

/** What a deployment is at the moment. */
interface Deployment {
  readonly token: Uint8Array;
  /** Undefined: tasks go to workers without a version. */
  readonly current: string | undefined;
  /** When each version polled first, in epoch milliseconds. */
  readonly since: ReadonlyMap<string, number>;
}

/**
 * Makes the version of a worker that polls the current one, unless a version that came later is current. `newer`: it is
 * left as it is, as for a worker of an earlier version that was restarted during an upgrade.
 * @throws VersionUnknownError; errors of gRPC, such as a refused permission.
 */
export async function makeCurrent(
  { workflowService }: { readonly workflowService: Service },
  version: WorkerVersion,
): Promise<'already' | 'set' | 'newer'> {
  const { namespace, deploymentName, buildId } = version;
  const deadline = Date.now() + KNOWN_MS;
  for (; ; await delay(POLL_MS)) {
    if (Date.now() > deadline) throw new VersionUnknownError(version);
    const found = await readDeployment(workflowService, namespace, deploymentName);
    const mine = found?.since.get(buildId);
    if (found === undefined || mine === undefined) continue;
    const { current, token } = found;
    if (current === buildId) return 'already';
    if (current !== undefined && (found.since.get(current) ?? 0) > mine) return 'newer';
    try {
      await workflowService.setWorkerDeploymentCurrentVersion({
        namespace,
        deploymentName,
        buildId,
        conflictToken: token,
        identity: IDENTITY,
        // A worker polls its queue for workflows before the one for activities.
        ignoreMissingTaskQueues: true,
      });
      return 'set';
    } catch (error) {
      if (!isPassing(error)) throw error;
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
      token: conflictToken ?? new Uint8Array(),
      current: workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId ?? undefined,
      since: new Map(
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
const isPassing = (error: unknown): boolean =>
  isGrpcServiceError(error) &&
  [GRPC.FAILED_PRECONDITION, GRPC.ABORTED, GRPC.UNAVAILABLE, GRPC.RESOURCE_EXHAUSTED].includes(error.code as never);
