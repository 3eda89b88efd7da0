import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { installExamples } from '../../client/definitions/examples.ts';
import { createAccess, unaudited } from '../../client/temporal/access.ts';
import type { TemporalConnection } from '../../client/temporal/connect.ts';
import type { Config } from '../../config/config.ts';
import { loadMasterKey } from '../../config/master-key.ts';
import { DEFAULT_ORGANIZATION } from '../../contract/organization/organization.ts';
import { projectRoot } from './project-root.ts';
import type { Say } from './say.ts';

/** Installs deploy/examples if the store is empty. A failure is only reported, because a stack works without them. */
export async function installExampleWorkflows(
  config: Config,
  temporal: TemporalConnection,
  say: Say,
  ending: AbortSignal,
): Promise<void> {
  try {
    const folder = join(projectRoot(), 'deploy', 'examples');
    const store = unaudited(createAccess(temporal, config, loadMasterKey(config)));
    // Each call of the client leaves a listener on the signal, and Node warns at eleven.
    const signal = AbortSignal.any([ending]);
    setMaxListeners(0, signal);
    const stored = await temporal.client.withAbortSignal(signal, () =>
      installExamples(store, DEFAULT_ORGANIZATION, folder),
    );
    if (stored.length > 0) say(`Installed example workflows: ${stored.join(', ')}.`);
  } catch (error) {
    if (!ending.aborted)
      say(`The example workflows could not be installed (${error instanceof Error ? error.message : 'unknown'}).`);
  }
}
