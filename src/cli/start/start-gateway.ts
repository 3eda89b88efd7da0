import { join } from 'node:path';
import type { TemporalConnection } from '../../client/temporal/connect.ts';
import type { Config } from '../../config/config.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { openLogger } from '../../observe/log.ts';
import { startMetrics } from '../../observe/metrics.ts';
import { startTracing } from '../../observe/tracing.ts';

/** A listening gateway, warnings about its settings for the operator, and how to close it. */
export type RunningGateway = {
  url: string;
  needsKeys: boolean;
  /** As `needsKeys`, as of now. */
  callersNeedKeys: () => Promise<boolean>;
  warnings: readonly string[];
  close(): Promise<void>;
};

type GatewayOptions = {
  uiUrl: string | undefined;
  deadWorkers: ReadonlySet<string>;
  /** It runs alone: its log goes to standard output, not to a file in the data folder. */
  isAlone: boolean;
};

/** Starts the gateway in this process. It is imported only here, so that an early failure is fast. */
export async function startGatewayInProcess(
  config: Config,
  temporal: TemporalConnection,
  { uiUrl, deadWorkers, isAlone }: GatewayOptions,
): Promise<RunningGateway> {
  const { startGateway } = await import('../../gateway/serve.ts');
  const log = openLogger(config, 'gateway', isAlone ? undefined : join(config.dataDir, 'logs', 'gateway.log'));
  const tracing = await startTracing('gateway', log);
  startMetrics('gateway');
  const gateway = await startGateway(config, { temporal, log, deadWorkers, ...omitUndefined({ uiUrl }) });
  // Starts its threads, so that the first large request does not wait for them.
  gateway.warm();
  return {
    ...gateway,
    close: async () => {
      await gateway.close();
      await tracing?.close();
    },
  };
}
