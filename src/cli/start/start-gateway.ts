import { join } from 'node:path';
import { pino } from 'pino';
import type { TemporalConnection } from '../../client/temporal/connect.ts';
import type { Config } from '../../config/config.ts';
import { defined } from '../../json/defined.ts';
import { logTo } from '../../log.ts';

/** A gateway that listens, what its operator should know of its settings, and how to end it. */
export type RunningGateway = { url: string; needsKeys: boolean; warnings: readonly string[]; close(): Promise<void> };

/** Starts the gateway in this process; it is loaded only now, so that a start that fails early fails fast. */
export async function startGatewayInProcess(
  config: Config,
  temporal: TemporalConnection,
  uiUrl: string | undefined,
  deadWorkers: ReadonlySet<string>,
): Promise<RunningGateway> {
  const { startGateway } = await import('../../gateway/serve.ts');
  const log = pino({ name: 'gateway' }, logTo(join(config.dataDir, 'logs', 'gateway.log')));
  const gateway = await startGateway(config, { temporal, log, deadWorkers, ...defined({ uiUrl }) });
  // The first who sends something large does not wait for a thread to begin.
  gateway.warm();
  return gateway;
}
