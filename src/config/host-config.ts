import { resolve } from 'node:path';
import { defined } from '../json/defined.ts';
import { type BlobPlace, blobPlaceOf } from './blob-place.ts';
import { ConfigError } from './config-error.ts';
import { type LOG_LEVELS, type OVERFLOWS, SETTINGS } from './settings.ts';

/** The settings of a process but those of Temporal. */
export type HostConfig = {
  /** Where the gateway listens; port 0 picks a free one. */
  host: string;
  port: number;
  /** Where the command line finds the gateway; it overrides host and port. No slash at the end. */
  url?: string;
  /** The gateway's URL for callers if it is not http://host:port. No slash at the end. */
  publicUrl?: string;
  /** Absolute path of the data folder of the local stack: database, logs, master key, stack.json. */
  dataDir: string;
  /** 32 bytes from the environment; loadMasterKey reads the file if absent. */
  masterKey?: Uint8Array;
  /** Earlier master keys, the latest first, which still decrypt and verify. */
  formerMasterKeys: Uint8Array[];
  /** An admin's API key of the organization `default` from the environment, which is not stored. */
  adminKey?: string;
  /** Whether all payloads in Temporal are encrypted (src/client/payloads/codec.ts). */
  codec: boolean;
  /** Origins of Temporal Web UIs that may request decrypted payloads. */
  uiOrigins: string[];
  taskQueue: string;
  /** Events after which a run continues as new. */
  historyLimit: number;
  /** Absolute path of the folder of the host's own actions. */
  actionsDir?: string;
  /** Whether and how bash steps run. */
  bash: 'off' | 'sandbox' | 'unsafe';
  /** Absolute paths of the folders where bash steps may run. */
  bashFolders: string[];
  /** Whether MCP servers may be programs that workers start. */
  mcpStdioAllowed: boolean;
  /** Command lines that MCP servers of every organization may use. */
  mcpCommands: string[][];
  /** Rate limits of the gateway; 0 per second means no limit. */
  rates: { [whose in 'address' | 'key' | 'organization']: { perSecond: number; burst: number } };
  /** Addresses of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: string[];
  /** CIDRs of private addresses that outgoing requests may reach. */
  httpAllow: string[];
  /** Ports of this stack on this machine, which outgoing requests may never reach. */
  ownPorts: number[];
  /** Where payloads over 256 KB are stored, and whether new ones are (src/client/payloads/blobs.ts). */
  blobs: BlobPlace;
  /**
   * Server and sender of e-mails whose steps name none. `fromAllow` lists further senders that steps may use, in lower
   * case: addresses, `*@domain`, or `*`.
   */
  mail: { smtpUrl?: string; from?: string; fromAllow?: string[] };
  /**
   * The ports of the Temporal server that `start` runs, and whether its Web UI is served: never, while there are no API
   * keys, or always.
   */
  ownTemporal: { port?: number; uiPort?: number; ui: 'never' | 'without-keys' | 'always' };
  /** Whether Temporal chooses workers by the version of their code, and who makes a version current. */
  workerVersioning: 'off' | 'automatic' | 'manual';
  /** The least level of lines in the logs. */
  logLevel: (typeof LOG_LEVELS)[number];
  /** Where a worker serves probes and metrics; absent: nowhere. */
  workerHttp?: { host: string; port: number };
  /** How long Temporal keeps closed runs, in days. */
  retentionDays: number;
  /** Limits of concurrent runs; absent means no limit. */
  limits: {
    user?: number;
    organization?: number;
    global?: number;
    overflow: (typeof OVERFLOWS)[number];
  };
};

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
export function readHostConfig(env: NodeJS.ProcessEnv): HostConfig {
  const present = withoutEmpty(env);
  const parsed = SETTINGS.safeParse(present);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(String(issue?.path[0] ?? 'SIGNALBOX_*'), issue?.message ?? 'invalid.');
  }
  const values = parsed.data;
  return {
    host: values.SIGNALBOX_HOST,
    port: values.SIGNALBOX_PORT,
    ...defined({ url: values.SIGNALBOX_URL, publicUrl: values.SIGNALBOX_PUBLIC_URL }),
    dataDir: resolve(values.SIGNALBOX_DATA),
    ...defined({ masterKey: values.SIGNALBOX_MASTER_KEY }),
    formerMasterKeys: values.SIGNALBOX_FORMER_MASTER_KEYS,
    ...defined({ adminKey: values.SIGNALBOX_ADMIN_KEY }),
    codec: values.SIGNALBOX_CODEC === '1',
    uiOrigins: values.SIGNALBOX_UI_ORIGINS,
    taskQueue: values.SIGNALBOX_TASK_QUEUE,
    historyLimit: values.SIGNALBOX_HISTORY_LIMIT,
    ...defined({ actionsDir: values.SIGNALBOX_ACTIONS }),
    bash: BASH_MODES[values.SIGNALBOX_BASH],
    bashFolders: values.SIGNALBOX_BASH_FOLDERS,
    mcpStdioAllowed: values.SIGNALBOX_MCP_STDIO === '1',
    mcpCommands: values.SIGNALBOX_MCP_COMMANDS,
    rates: {
      address: { perSecond: values.SIGNALBOX_RATE_ADDRESS, burst: values.SIGNALBOX_RATE_ADDRESS_BURST },
      key: { perSecond: values.SIGNALBOX_RATE_KEY, burst: values.SIGNALBOX_RATE_KEY_BURST },
      organization: { perSecond: values.SIGNALBOX_RATE_ORGANIZATION, burst: values.SIGNALBOX_RATE_ORGANIZATION_BURST },
    },
    trustedProxies: values.SIGNALBOX_TRUSTED_PROXIES,
    httpAllow: values.SIGNALBOX_HTTP_ALLOW,
    ownPorts: values.SIGNALBOX_OWN_PORTS,
    blobs: blobPlaceOf(present, values.SIGNALBOX_DATA),
    mail: defined({
      smtpUrl: values.SIGNALBOX_SMTP_URL,
      from: values.SIGNALBOX_MAIL_FROM,
      fromAllow: values.SIGNALBOX_MAIL_FROM_ALLOW,
    }),
    ownTemporal: {
      ...defined({ port: values.SIGNALBOX_TEMPORAL_PORT, uiPort: values.SIGNALBOX_UI_PORT }),
      ui: UI[values.SIGNALBOX_UI ?? 'default'],
    },
    workerVersioning: VERSIONING[values.SIGNALBOX_WORKER_VERSIONING],
    logLevel: values.SIGNALBOX_LOG_LEVEL,
    ...(values.SIGNALBOX_WORKER_PORT === undefined
      ? {}
      : { workerHttp: { host: values.SIGNALBOX_WORKER_HOST, port: values.SIGNALBOX_WORKER_PORT } }),
    retentionDays: values.SIGNALBOX_RETENTION_DAYS,
    limits: {
      ...defined({
        user: values.SIGNALBOX_LIMIT_USER,
        organization: values.SIGNALBOX_LIMIT_ORGANIZATION,
        global: values.SIGNALBOX_LIMIT_GLOBAL,
      }),
      overflow: values.SIGNALBOX_LIMIT_OVERFLOW,
    },
  };
}
