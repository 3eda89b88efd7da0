import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { ActivityDependencies } from '../activities/registry.ts';
import { type HostActions, lightTypes } from '../src/actions/load.ts';
import { deliverToInbox } from '../src/client/organization/inbox-messages.ts';
import { secretReader } from '../src/client/organization/secrets.ts';
import { dataConverterOf } from '../src/client/payloads/data-converter.ts';
import { LargeResults } from '../src/client/payloads/large-results.ts';
import { createAccess, unaudited, type WriteAccess } from '../src/client/temporal/access.ts';
import { traceHeaders } from '../src/client/temporal/trace-headers.ts';
import type { Config } from '../src/config/config.ts';
import { loadMasterKey } from '../src/config/master-key.ts';
import { type ActorActivities, actorActivities } from './actor-activities.ts';
import { publicUrlOf, runAccess } from './run-access.ts';

/**
 * What activities need from outside, over the worker's own connection and with the host's master key. Once `callsEnd`
 * is aborted, their calls to Temporal no longer wait: an actor that only this worker could run would answer none.
 */
export function activityDependencies(
  connection: NativeConnection,
  config: Config,
  actions: HostActions,
  callsEnd: AbortSignal,
): ActivityDependencies & { actors: ActorActivities; over: WriteAccess } {
  // Each call listens while it waits.
  setMaxListeners(0, callsEnd);
  const { namespace } = config.temporal;
  const interceptors = { workflow: [traceHeaders] };
  const dataConverter = dataConverterOf(config);
  const client = new Client({ connection, namespace, dataConverter, interceptors });
  // A new run of a versioned deployment begins with the current version, which this worker may not be.
  const startsEagerly = config.workerVersioning === 'off';
  const publicUrl = (): string | undefined => publicUrlOf(config);
  const options = { lightActions: lightTypes(actions), startsEagerly, callsEnd, publicUrl };
  const writeAccess = unaudited(createAccess({ client, namespace }, config, loadMasterKey(config), options));
  return {
    actions,
    bash: { hidden: [programFolder(), config.dataDir, config.blobs.folder] },
    secrets: secretReader(writeAccess),
    inbox: { deliver: (org, message) => deliverToInbox(writeAccess, org, message) },
    ...(config.blobs.isOn ? { results: new LargeResults(dataConverter) } : {}),
    ...runAccess(writeAccess, config),
    actors: actorActivities(writeAccess),
    over: writeAccess,
  };
}

/** The root folder of this program, both when it runs from sources and when it is compiled into a sub-folder. */
function programFolder(): string {
  const own = dirname(fileURLToPath(import.meta.url));
  let folder = own;
  while (!existsSync(join(folder, 'package.json'))) {
    if (dirname(folder) === folder) return own;
    folder = dirname(folder);
  }
  return folder;
}
