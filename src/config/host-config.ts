import { resolve } from 'node:path';
import { omitUndefined } from '../json/omit-undefined.ts';
import { readBlobSettings } from './blob-settings.ts';
import { ConfigError } from './config-error.ts';
import { SETTINGS } from './settings.ts';

/** The settings of a process but those of Temporal. */
export type HostConfig = ReturnType<typeof readHostConfig>;

const UI = { '0': 'never', '1': 'always', default: 'without-keys' } as const;
const VERSIONING = { '0': 'off', '1': 'automatic', manual: 'manual' } as const;
const BASH_MODES = { '0': 'off', '1': 'sandbox', unsafe: 'unsafe' } as const;

/** An empty variable counts as not set, because Compose files and CI write empty ones. */
export function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}

/**
 * Reads and validates every setting but those of Temporal, which the command line does not need. It reads no files.
 * @throws ConfigError with the variable and the expected value; it never repeats the actual value
 */
export function readHostConfig(env: NodeJS.ProcessEnv) {
  const present = withoutEmpty(env);
  const parsed = SETTINGS.safeParse(present);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(String(issue?.path[0] ?? 'SIGNALBOX_*'), issue?.message ?? 'invalid.');
  }
  const values = parsed.data;
  return {
    /** Where the gateway listens; port 0 picks a free one. */
    host: values.SIGNALBOX_HOST,
    port: values.SIGNALBOX_PORT,
    ...omitUndefined({
      /** Where the command line finds the gateway; it overrides host and port. No slash at the end. */
      url: values.SIGNALBOX_URL,
      /** The gateway's URL for callers if it is not http://host:port. No slash at the end. */
      publicUrl: values.SIGNALBOX_PUBLIC_URL,
      /** 32 bytes from the environment; loadMasterKey reads the file if absent. */
      masterKey: values.SIGNALBOX_MASTER_KEY,
      /** An admin's API key of the organization `default` from the environment, which is not stored. */
      adminKey: values.SIGNALBOX_ADMIN_KEY,
      /** Absolute path of the folder of the host's own actions. */
      actionsDir: values.SIGNALBOX_ACTIONS,
    }),
    /** Absolute path of the data folder of the local stack: database, logs, master key, stack.json. */
    dataDir: resolve(values.SIGNALBOX_DATA),
    /** Earlier master keys, the latest first, which still decrypt and verify. */
    formerMasterKeys: values.SIGNALBOX_FORMER_MASTER_KEYS,
    /** Whether all payloads in Temporal are encrypted (src/client/payloads/codec.ts). */
    codec: values.SIGNALBOX_CODEC === '1',
    /** Origins of Temporal Web UIs that may request decrypted payloads. */
    uiOrigins: values.SIGNALBOX_UI_ORIGINS,
    taskQueue: values.SIGNALBOX_TASK_QUEUE,
    /** Events after which a run continues as new. */
    historyLimit: values.SIGNALBOX_HISTORY_LIMIT,
    /** Whether and how bash steps run. */
    bash: BASH_MODES[values.SIGNALBOX_BASH],
    /** Absolute paths of the folders where bash steps may run. */
    bashFolders: values.SIGNALBOX_BASH_FOLDERS,
    /** Whether MCP servers may be programs that workers start. */
    mcpStdioAllowed: values.SIGNALBOX_MCP_STDIO === '1',
    /** Command lines that MCP servers of every organization may use. */
    mcpCommands: values.SIGNALBOX_MCP_COMMANDS,
    /** Rate limits of the gateway; 0 per second means no limit. */
    rates: {
      address: { perSecond: values.SIGNALBOX_RATE_ADDRESS, burst: values.SIGNALBOX_RATE_ADDRESS_BURST },
      key: { perSecond: values.SIGNALBOX_RATE_KEY, burst: values.SIGNALBOX_RATE_KEY_BURST },
      organization: { perSecond: values.SIGNALBOX_RATE_ORGANIZATION, burst: values.SIGNALBOX_RATE_ORGANIZATION_BURST },
    },
    /** Addresses of proxies whose X-Forwarded-For is trusted. */
    trustedProxies: values.SIGNALBOX_TRUSTED_PROXIES,
    /** CIDRs of private addresses that outgoing requests may reach. */
    httpAllow: values.SIGNALBOX_HTTP_ALLOW,
    /** Ports of this stack on this machine, which outgoing requests may never reach. */
    ownPorts: values.SIGNALBOX_OWN_PORTS,
    /** Where payloads over 256 KB are stored, and whether new ones are (src/client/payloads/external-storage.ts). */
    blobs: readBlobSettings(present, values.SIGNALBOX_DATA),
    /**
     * Server and sender of e-mails whose steps name none. `fromAllow` lists further senders that steps may use, in
     * lower case: addresses, `*@domain`, or `*`.
     */
    mail: omitUndefined({
      smtpUrl: values.SIGNALBOX_SMTP_URL,
      from: values.SIGNALBOX_MAIL_FROM,
      fromAllow: values.SIGNALBOX_MAIL_FROM_ALLOW,
    }),
    /**
     * The ports of the Temporal server that `start` runs, and whether its Web UI is served: never, while there are no
     * API keys, or always.
     */
    ownTemporal: {
      ...omitUndefined({ port: values.SIGNALBOX_TEMPORAL_PORT, uiPort: values.SIGNALBOX_UI_PORT }),
      ui: UI[values.SIGNALBOX_UI ?? 'default'],
    },
    /** Whether Temporal chooses workers by the version of their code, and who makes a version current. */
    workerVersioning: VERSIONING[values.SIGNALBOX_WORKER_VERSIONING],
    /** Whether what Signalbox changes in Temporal's SDK is in force (src/temporal-internals). */
    sdkPatches: values.SIGNALBOX_SDK_PATCHES === '1',
    /** The least level of lines in the logs. */
    logLevel: values.SIGNALBOX_LOG_LEVEL,
    /** Where a worker serves probes and metrics; absent: nowhere. */
    ...(values.SIGNALBOX_WORKER_PORT === undefined
      ? {}
      : { workerHttp: { host: values.SIGNALBOX_WORKER_HOST, port: values.SIGNALBOX_WORKER_PORT } }),
    /** How long Temporal keeps closed runs, in days. */
    retentionDays: values.SIGNALBOX_RETENTION_DAYS,
    /** Limits of concurrent runs; absent means no limit. */
    limits: {
      ...omitUndefined({
        user: values.SIGNALBOX_LIMIT_USER,
        organization: values.SIGNALBOX_LIMIT_ORGANIZATION,
        global: values.SIGNALBOX_LIMIT_GLOBAL,
      }),
      overflow: values.SIGNALBOX_LIMIT_OVERFLOW,
    },
  };
}
