import { loadClientConnectConfig } from '@temporalio/envconfig';
import { omitUndefined } from '../json/omit-undefined.ts';
import { ConfigError } from './config-error.ts';
import { type HostConfig, readHostConfig, withoutEmpty } from './host-config.ts';

/** How to connect to Temporal. Without an address, `start` runs a server of its own. */
export type TemporalSettings = {
  address?: string;
  namespace: string;
  tls?: NonNullable<ReturnType<typeof loadClientConnectConfig>['connectionOptions']['tls']>;
  apiKey?: string;
  metadata?: Record<string, string>;
};

/** All settings of a process, read once at its start. */
export type Config = HostConfig & { temporal: TemporalSettings };

function temporalSettings(env: Record<string, string>): TemporalSettings {
  // The CLI's configuration file counts only if the environment names it: a file in the home folder must not lead
  // `npm start` to a production cluster.
  const disableFile = env['TEMPORAL_CONFIG_FILE'] === undefined && env['TEMPORAL_PROFILE'] === undefined;
  let loaded: ReturnType<typeof loadClientConnectConfig>;
  try {
    loaded = loadClientConnectConfig({ overrideEnvVars: env, disableFile });
  } catch (error) {
    throw new ConfigError(
      'TEMPORAL_*',
      'the environment configuration of the Temporal CLI is invalid ' +
        `(${error instanceof Error ? error.message : 'unknown'}).`,
    );
  }
  const { address, apiKey, tls, metadata } = loaded.connectionOptions;
  return {
    namespace: loaded.namespace ?? 'signalbox',
    ...omitUndefined({ address }),
    ...(apiKey === undefined || typeof apiKey !== 'string' ? {} : { apiKey }),
    ...(tls === undefined || tls === null ? {} : { tls }),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, string> }),
  };
}

/**
 * Reads and validates every setting. It reads no files except for those that TEMPORAL_* name.
 * @throws ConfigError with the variable and the expected value; it never repeats the actual value
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return { ...readHostConfig(env), temporal: temporalSettings(withoutEmpty(env)) };
}
