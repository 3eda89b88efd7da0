import type { ModelReader } from '../activities/models.ts';
import type { CallbackUrl, RunReader } from '../activities/runs.ts';
import type { Access } from '../src/client/access.ts';
import { callbackToken } from '../src/client/callbacks.ts';
import { describeChildren } from '../src/client/child-runs.ts';
import { resolveModel } from '../src/client/models.ts';
import { resolveWorkflow } from '../src/client/resolve-workflow.ts';
import type { Config } from '../src/config.ts';

/** Reads definitions, runs and models, and makes callback URLs. */
export function runsOver(
  over: Access,
  config: Config,
): { readonly runs: RunReader; readonly models: ModelReader; readonly callbackUrl: CallbackUrl } {
  const publicUrl = publicUrlOf(config);
  return {
    runs: {
      resolve: (org, wanted) => resolveWorkflow(over, org, wanted),
      describeChildren: (org, children) => describeChildren(over, org, children),
    },
    models: { resolve: (org, name) => resolveModel(over, org, name) },
    callbackUrl: (place) =>
      publicUrl === undefined ? undefined : `${publicUrl}/callbacks/${callbackToken(over.keys.callbacks, place)}`,
  };
}

/** Where the gateway is; on a port that was picked only whoever started both knows, and says so by SIGNALBOX_PUBLIC_URL. */
function publicUrlOf({ publicUrl, host, port }: Config): string | undefined {
  if (publicUrl !== undefined) return publicUrl;
  const name = host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
  return port === 0 ? undefined : `http://${name}:${port}`;
}
