import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Logger, pino } from 'pino';
import type { TemporalConnection } from '../../client/connect.ts';
import type { Config } from '../../config.ts';
import { compiledRoot } from './project-root.ts';

/** A gateway that listens, and how to end it. */
export type RunningGateway = { url: string; close(): Promise<void> };

/** What the gateway gets beside the settings: the connection (which it must not close), its log, the Web UI's URL. */
export type GatewayContext = { temporal: TemporalConnection; log: Logger; uiUrl?: string };

type GatewayModule = { startGateway(config: Config, context: GatewayContext): Promise<RunningGateway> };

/** Starts the gateway in this process; it is loaded only now, so that a start that fails early fails fast. */
export async function startGatewayHere(
  config: Config,
  temporal: TemporalConnection,
  uiUrl: string | undefined,
): Promise<RunningGateway | undefined> {
  const file = join(compiledRoot(), 'src/gateway/serve.js');
  if (!existsSync(file)) return undefined;
  const { startGateway } = (await import(pathToFileURL(file).href)) as GatewayModule;
  const log = pino(
    { name: 'gateway' },
    pino.destination({ dest: join(config.dataDir, 'logs', 'gateway.log'), mkdir: true, sync: true }),
  );
  return startGateway(config, { temporal, log, ...(uiUrl === undefined ? {} : { uiUrl }) });
}
