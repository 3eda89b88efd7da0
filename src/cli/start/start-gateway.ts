import { join } from 'node:path';
import { pino } from 'pino';
import type { TemporalConnection } from '../../client/temporal/connect.ts';
import type { Config } from '../../config/config.ts';
import { defined } from '../../json/defined.ts';
import { logTo } from '../../log.ts';

/** A listening gateway, warnings about its settings for the operator, and how to close it. */
export type RunningGateway = { url: string; needsKeys: boolean; warnings: readonly string[]; close(): Promise<void> };

/** Starts the gateway in this process. It is imported only here, so that an early failure is fast. */
export async function startGatewayInProcess(
  config: Config,
  temporal: TemporalConnection,
  uiUrl: string | undefined,
  deadWorkers: ReadonlySet<string>,
): Promise<RunningGateway> {
  const { startGateway } = await import('../../gateway/serve.ts');
  const log = pino({ name: 'gateway' }, logTo(join(config.dataDir, 'logs', 'gateway.log')));
  const gateway = await startGateway(config, { temporal, log, deadWorkers, ...defined({ uiUrl }) });
  // Starts its threads, so that the first large request does not wait for them.
  gateway.warm();
  return gateway;
}
