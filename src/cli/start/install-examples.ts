import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { installExamples } from '../../client/definitions/examples.ts';
import { access, unaudited } from '../../client/temporal/access.ts';
import type { TemporalConnection } from '../../client/temporal/connect.ts';
import type { Config } from '../../config/config.ts';
import { loadMasterKey } from '../../config/master-key.ts';
import { DEFAULT_ORGANIZATION } from '../../engine/state/start.ts';
import { projectRoot } from './project-root.ts';
import type { Say } from './say.ts';

/** Puts deploy/examples into an empty store. A stack without examples is still a stack: what goes wrong is only told. */
export async function installExampleWorkflows(
  config: Config,
  temporal: TemporalConnection,
  say: Say,
  ending: AbortSignal,
): Promise<void> {
  try {
    const folder = join(projectRoot(), 'deploy', 'examples');
    const store = unaudited(access(temporal, config, loadMasterKey(config)));
    // The client leaves a listener at the signal with each of its calls: too many for Node, which warns at eleven.
    const signal = AbortSignal.any([ending]);
    setMaxListeners(0, signal);
    const stored = await temporal.client.withAbortSignal(signal, () =>
      installExamples(store, DEFAULT_ORGANIZATION, folder),
    );
    if (stored.length > 0) say(`Examples: ${stored.join(', ')}.`);
  } catch (error) {
    if (!ending.aborted)
      say(`The examples were not stored (${error instanceof Error ? error.message : 'unknown'}). All else works.`);
  }
}
