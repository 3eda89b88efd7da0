import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { defined } from './json/defined.ts';

/** How to reach Temporal. Without an address, `start` runs a server of its own. */
export type TemporalSettings = {
  address?: string;
  namespace: string;
  tls?: NonNullable<ReturnType<typeof loadClientConnectConfig>['connectionOptions']['tls']>;
  apiKey?: string;
  metadata?: Record<string, string>;
};

/** Every setting of the process (ARCHITECTURE.md §5), read once at its start and handed on. */
export type Config = {
  /** Where the gateway listens; port 0 picks a free one. */
  host: string;
  port: number;
  /** Where the command line finds the gateway; it comes before host and port. No slash at the end. */
  url?: string;
  /** The gateway's URL as callers see it, when it is not http://host:port. No slash at the end. */
  publicUrl?: string;
  /** Absolute path of the folder of the local stack: database, logs, master key, stack.json. */
  dataDir: string;
  /** 32 bytes, when given by the environment; else see loadMasterKey. */
  masterKey?: Uint8Array;
  /** Master keys of before, latest first: what they sealed and signed is still read. */
  formerMasterKeys: Uint8Array[];
  /** An admin's API key of `default` that is given by the environment, and is not stored. */
  adminKey?: string;
  /** Whether all of Temporal's payloads are encrypted (src/client/payloads/codec.ts). */
  codec: boolean;
  /** Origins of pages of Temporal's Web UI that may ask for payloads in clear. */
  uiOrigins: string[];
  taskQueue: string;
  /** Events after which a run continues as new. */
  historyLimit: number;
  /** Absolute path of the folder of the host's own actions. */
  actionsDir?: string;
  /** Whether steps of kind bash run, and how. */
  bash: 'off' | 'sandbox' | 'unsafe';
  /** Folders that they may work in, as absolute paths. */
  bashFolders: string[];
  /** Whether MCP servers may be programs that workers start. */
  mcpStdioAllowed: boolean;
  /** Programs, with their arguments, that MCP servers of other organizations than `default` may be. */
  mcpCommands: string[][];
  /** Limits of rate at the gateway; 0 per second is none. */
  rates: { [whose in 'address' | 'key' | 'organization']: { perSecond: number; burst: number } };
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  /** CIDRs of private ranges that outgoing requests may reach. */
  httpAllow: string[];
  /** Ports of this very stack on this machine, which outgoing requests may never reach. */
  ownPorts: number[];
  /** Where payloads over 256 KB are kept, and whether new ones are (src/client/payloads/blobs.ts). */
  blobs: { folder: string; isOn: boolean };
  /**
   * For e-mails of steps that name no server or sender of their own. `fromAllow`: senders that steps may name beside
   * `from`, in lower case: addresses, `*@domain`, or `*`.
   */
  mail: { smtpUrl?: string; from?: string; fromAllow?: string[] };
  /** Of the Temporal server that `start` runs: the ports that it must have, and whether it has a Web UI. */
  ownTemporal: { port?: number; uiPort?: number; ui: boolean };
  /** How long Temporal keeps closed runs, in days. */
  retentionDays: number;
  /** How many runs may go at once, for whoever starts them; absent where there is no limit. */
  limits: {
    user?: number;
    organization?: number;
    global?: number;
    overflow: (typeof OVERFLOWS)[number];
  };
  temporal: TemporalSettings;
};

const OVERFLOWS = ['queue', 'reject', 'cancel-oldest', 'cancel-newest'] as const;

/** A setting that cannot be used. The process ends with `exitCode`. */
export class ConfigError extends Error {
  readonly code = 'bad_setting';
  readonly exitCode = 20;
  readonly variable: string;
  constructor(variable: string, message: string) {
    super(`${variable}: ${message}`);
    this.name = 'ConfigError';
    this.variable = variable;
  }
}

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `expected a whole number from ${least} to ${most}.`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `expected a whole number from ${least} to ${most}.`);

/** `off`, `on` for the usual number, or a number. */
const limitOf = (usual: number) =>
  z
    .string()
    .regex(/^(on|off|[1-9]\d{0,5})$/, `expected off, on (which is ${usual}), or a number from 1 to 999999.`)
    .transform((text) => (text === 'off' ? undefined : text === 'on' ? usual : Number(text)))
    .optional();

const listOf = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

const masterKey = z.string().transform((text, context) => {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length === 32) return new Uint8Array(bytes);
  context.addIssue('expected 32 bytes as base64 or hex; make one with `openssl rand -base64 32`.');
  return z.NEVER;
});

const BASH_MODES = { '0': 'off', '1': 'sandbox', unsafe: 'unsafe' } as const;

/** What each setting may be, as the environment gives it; the manual is made from this too. */
export const SETTINGS = z.object({
  SIGNALBOX_PORT: wholeNumber(0, 65_535).default(8787).describe('The port of the gateway; 0 picks a free one.'),
  SIGNALBOX_HOST: z
    .string()
    .refine((host) => !host.includes('/'), {
      error:
        'expected an address or a host name, such as 127.0.0.1, and no URL. To reach a gateway by its URL, set SIGNALBOX_URL.',
      abort: true,
    })
    .regex(/^[A-Za-z0-9.:_-]+$/, 'expected an address or a host name, such as 127.0.0.1.')
    .default('127.0.0.1')
    .describe('The interface that the gateway listens on. Without API keys it must be this machine.'),
  SIGNALBOX_URL: z
    .url({ protocol: /^https?$/, error: 'expected an http or https URL, such as https://signalbox.example.com.' })
    .refine((url) => !/[@?#]/.test(url), {
      error:
        'expected a URL without user, password, query and fragment. The command line takes its key from SIGNALBOX_API_KEY.',
    })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('Where the command line finds the gateway. It comes before SIGNALBOX_HOST and SIGNALBOX_PORT.'),
  SIGNALBOX_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'expected an http or https URL, such as https://signalbox.example.com.' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('The URL of the gateway as callers see it, where that is another.'),
  SIGNALBOX_DATA: z
    .string()
    .default('.signalbox')
    .describe('The folder of the local stack: database, logs, master key.'),
  SIGNALBOX_MASTER_KEY: masterKey
    .optional()
    .describe(
      '32 bytes as base64 or hex, which encrypt secrets and sign tokens. Without it one is made, and kept in the data folder.',
    ),
  SIGNALBOX_FORMER_MASTER_KEYS: z
    .string()
    .transform(listOf)
    .pipe(z.array(masterKey))
    .default([])
    .describe(
      'Master keys of before, the latest first, divided by commas: what they encrypted and signed is still read. `signalbox keys reseal` encrypts it anew.',
    ),
  SIGNALBOX_ADMIN_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{32,200}$/, 'expected 32 to 200 visible characters; make one with `openssl rand -hex 32`.')
    .optional()
    .describe(
      "An admin's API key that is not stored: with it the gateway may serve other interfaces before a key was made.",
    ),
  SIGNALBOX_CODEC: z
    .enum(['0', '1'], { error: 'expected 1 (payloads are encrypted) or 0.' })
    .default('0')
    .describe("1 encrypts all of Temporal's payloads under the master key; gateway and workers must agree."),
  SIGNALBOX_UI_ORIGINS: z
    .string()
    .transform(listOf)
    .pipe(z.array(z.url({ protocol: /^https?$/, error: 'expected origins such as https://temporal.example.com.' })))
    .transform((urls) => urls.map((url) => new URL(url).origin))
    .default([])
    .describe("Origins of Temporal's Web UI whose pages may call /codec, beside that of the stack's own."),
  SIGNALBOX_TASK_QUEUE: z
    .string()
    .max(200, 'expected at most 200 characters.')
    .default('signalbox')
    .describe('The task queue in Temporal that gateway and workers share.'),
  SIGNALBOX_HISTORY_LIMIT: wholeNumber(1, 40_000)
    .default(1_000)
    .describe('Events of history after which a run continues as new.'),
  SIGNALBOX_ACTIONS: z
    .string()
    .transform((folder) => resolve(folder))
    .optional()
    .describe("The folder of the host's own actions: JavaScript modules that export what `defineAction` gives."),
  SIGNALBOX_BASH: z
    .enum(['0', '1', 'unsafe'], { error: 'expected 1 (bash steps may run, in a sandbox), unsafe (without one) or 0.' })
    .default('0')
    .describe('1 lets steps of kind bash run, in a sandbox (bubblewrap); unsafe runs them as the worker itself.'),
  SIGNALBOX_BASH_FOLDERS: z
    .string()
    .transform(listOf)
    .refine((folders) => folders.every((folder) => isAbsolute(folder)), {
      error: 'expected absolute paths divided by commas, such as /srv/repositories.',
    })
    .default([])
    .describe('Folders of the worker that bash steps may work in and write to.'),
  SIGNALBOX_MCP_STDIO: z
    .enum(['0', '1'], { error: 'expected 1 (workers start programs as MCP servers) or 0.' })
    .default('0')
    .describe('1 lets MCP servers be programs, which workers start.'),
  SIGNALBOX_MCP_COMMANDS: z
    .string()
    .transform((text) =>
      text
        .split(/[,\n]/)
        .map((line) => line.split(/\s+/).filter((part) => part !== ''))
        .filter((parts) => parts.length > 0),
    )
    .refine((lines) => lines.every(([command]) => command !== '*'), {
      error: 'expected command lines divided by commas, such as /opt/mcp/files --read-only, /opt/mcp/search *.',
    })
    .default([])
    .describe(
      'Command lines, divided by commas, that MCP servers of every organization may be; a last `*` takes any further arguments. Others may be started by admins of the organization `default` only.',
    ),
  SIGNALBOX_RATE_ADDRESS: wholeNumber(0, 1_000_000)
    .default(100)
    .describe('Requests per second from one address at webhooks, callbacks and public triggers; 0 is no limit.'),
  SIGNALBOX_RATE_ADDRESS_BURST: wholeNumber(1, 10_000_000).default(1_000).describe('How many of them at once.'),
  SIGNALBOX_RATE_KEY: wholeNumber(0, 1_000_000)
    .default(1_000)
    .describe('Requests per second with one API key; 0 is no limit.'),
  SIGNALBOX_RATE_KEY_BURST: wholeNumber(1, 10_000_000).default(3_000).describe('How many of them at once.'),
  SIGNALBOX_RATE_ORGANIZATION: wholeNumber(0, 1_000_000)
    .default(1_000)
    .describe('Requests per second with all API keys of one organization; 0 is no limit.'),
  SIGNALBOX_RATE_ORGANIZATION_BURST: wholeNumber(1, 10_000_000).default(3_000).describe('How many of them at once.'),
  SIGNALBOX_TRUSTED_PROXIES: z
    .string()
    .transform(listOf)
    .refine((ranges) => ranges.every((range) => ipaddr.isValid(range) || ipaddr.isValidCIDR(range)), {
      error: 'expected addresses or CIDRs divided by commas, such as 10.0.0.0/8.',
    })
    .default([])
    .describe("Addresses of proxies whose X-Forwarded-For tells the callers' addresses, by which they are limited."),
  SIGNALBOX_HTTP_ALLOW: z
    .string()
    .transform(listOf)
    .refine((ranges) => ranges.every((range) => ipaddr.isValidCIDR(range)), {
      error: 'expected CIDRs divided by commas, such as 10.0.0.0/8,192.168.1.7/32.',
    })
    .default([])
    .describe('CIDRs of private addresses that http steps may reach all the same.'),
  SIGNALBOX_OWN_PORTS: z
    .string()
    .regex(/^[\d, ]*$/, 'expected port numbers divided by commas.')
    .transform((text) => listOf(text).map(Number))
    .default([])
    .describe('Ports of this stack on this machine, which http steps may never reach; `start` sets them.'),
  SIGNALBOX_BLOBS: z
    .string()
    .optional()
    .describe(
      'The folder for payloads over 256 KB, which gateway and workers must share; `off` leaves them in Temporal. Without it: `blobs` in the data folder.',
    ),
  SIGNALBOX_SMTP_URL: z
    .url({
      protocol: /^smtps?$/,
      error: 'expected smtp:// or smtps://, such as smtp://user:password@mail.example.com:587.',
    })
    .optional()
    .describe(
      'The SMTP server for e-mails of steps that name none; `?encryption=none` allows a password without TLS. It may be a private address.',
    ),
  SIGNALBOX_MAIL_FROM: z
    .string()
    .max(320, 'expected an e-mail address.')
    .regex(/^[^@]+@[^@\s]+$/, 'expected an e-mail address, such as Signalbox <signalbox@example.com>.')
    .optional()
    .describe("The sender of e-mails over the host's server."),
  SIGNALBOX_MAIL_FROM_ALLOW: z
    .string()
    .transform((text) => listOf(text.toLowerCase()))
    .pipe(
      z.array(z.string().regex(/^(\*|(\*|[^@\s]+)@[^@\s]+)$/, 'expected addresses, *@domain or *, divided by commas.')),
    )
    .optional()
    .describe(
      "Other senders that steps may name in `from` over the host's server: addresses, *@domain, or *, divided by commas.",
    ),
  SIGNALBOX_TEMPORAL_PORT: wholeNumber(1, 65_535)
    .optional()
    .describe(
      'The port of the Temporal server that `start` runs; it is an error where it is taken. Without it: the one before, else 7233, else a free one.',
    ),
  SIGNALBOX_UI_PORT: wholeNumber(1, 65_535)
    .optional()
    .describe("The port of that server's Web UI; without it: the one before, else 8233, else a free one."),
  SIGNALBOX_UI: z
    .enum(['0', '1'], { error: 'expected 1 (the Temporal server that `start` runs has its Web UI) or 0.' })
    .default('1')
    .describe(
      '0 starts the Temporal server without its Web UI and HTTP API. They ask for no key: whoever reaches them on this machine, by a browser too, sees and starts all runs.',
    ),
  SIGNALBOX_LIMIT_USER: limitOf(5).describe(
    'How many runs of one user may go at once: off, on (5), or a number. Default: off.',
  ),
  SIGNALBOX_LIMIT_ORGANIZATION: limitOf(50).describe(
    'How many runs of one organization may go at once: off, on (50), or a number. Default: off.',
  ),
  SIGNALBOX_LIMIT_GLOBAL: limitOf(50).describe(
    'How many runs may go at once in all: off, on (50), or a number. Default: off.',
  ),
  SIGNALBOX_LIMIT_OVERFLOW: z
    .enum(OVERFLOWS, { error: `expected one of ${OVERFLOWS.join(', ')}.` })
    .default('queue')
    .describe('What becomes of runs over these limits: queue, reject, cancel-oldest or cancel-newest.'),
  SIGNALBOX_RETENTION_DAYS: wholeNumber(1, 3_650)
    .default(30)
    .describe('How many days Temporal keeps runs that have ended.'),
});

/** Where it is switched off, what was kept before is still found in the usual place. */
function blobsOf(setting: string | undefined, dataDir: string): Config['blobs'] {
  const isOn = setting !== 'off';
  return { folder: resolve(setting !== undefined && isOn ? setting : join(dataDir, 'blobs')), isOn };
}

/** An empty variable counts as one that is not set, as Compose files and CI write them. */
function withoutEmpty(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}

function temporalSettings(env: Record<string, string>): TemporalSettings {
  // The CLI's configuration file counts only when the environment points at it: `npm start` must not be led to a
  // production cluster by a file that lies in the home folder.
  const disableFile = env['TEMPORAL_CONFIG_FILE'] === undefined && env['TEMPORAL_PROFILE'] === undefined;
  let loaded: ReturnType<typeof loadClientConnectConfig>;
  try {
    loaded = loadClientConnectConfig({ overrideEnvVars: env, disableFile });
  } catch (error) {
    throw new ConfigError(
      'TEMPORAL_*',
      `the Temporal CLI's environment configuration cannot be read (${error instanceof Error ? error.message : 'unknown'}).`,
    );
  }
  const { address, apiKey, tls, metadata } = loaded.connectionOptions;
  return {
    namespace: loaded.namespace ?? 'signalbox',
    ...defined({ address }),
    ...(apiKey === undefined || typeof apiKey !== 'string' ? {} : { apiKey }),
    ...(tls === undefined || tls === null ? {} : { tls }),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, string> }),
  };
}

/**
 * Reads and validates every setting. Touches no file (but those that TEMPORAL_* name).
 * @throws ConfigError naming the variable and what was expected; it never repeats the value.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const present = withoutEmpty(env);
  const parsed = SETTINGS.safeParse(present);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(String(issue?.path[0] ?? 'SIGNALBOX_*'), issue?.message ?? 'not valid.');
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
    blobs: blobsOf(values.SIGNALBOX_BLOBS, values.SIGNALBOX_DATA),
    mail: defined({
      smtpUrl: values.SIGNALBOX_SMTP_URL,
      from: values.SIGNALBOX_MAIL_FROM,
      fromAllow: values.SIGNALBOX_MAIL_FROM_ALLOW,
    }),
    ownTemporal: {
      ...defined({ port: values.SIGNALBOX_TEMPORAL_PORT, uiPort: values.SIGNALBOX_UI_PORT }),
      ui: values.SIGNALBOX_UI === '1',
    },
    retentionDays: values.SIGNALBOX_RETENTION_DAYS,
    limits: {
      ...defined({
        user: values.SIGNALBOX_LIMIT_USER,
        organization: values.SIGNALBOX_LIMIT_ORGANIZATION,
        global: values.SIGNALBOX_LIMIT_GLOBAL,
      }),
      overflow: values.SIGNALBOX_LIMIT_OVERFLOW,
    },
    temporal: temporalSettings(present),
  };
}

/**
 * The 32-byte key that encrypts secrets and signs tokens: the environment's, else `<data>/master.key` (0600), made
 * when it is missing. Two processes that make it at once end with the same one.
 * @throws ConfigError when the file cannot be read or made, or holds something else.
 */
export function loadMasterKey(config: Pick<Config, 'masterKey' | 'dataDir'>): Uint8Array {
  if (config.masterKey) return config.masterKey;
  const path = join(config.dataDir, 'master.key');
  let text: string;
  try {
    makeFolder(config.dataDir);
    text = readOrMakeKey(path);
  } catch (error) {
    throw new ConfigError(
      'SIGNALBOX_MASTER_KEY',
      `the file ${path} cannot be read or made (${codeOf(error) ?? error}). Let this user read and write it, or give the key by this variable.`,
    );
  }
  const key = masterKey.safeParse(text.trim());
  if (key.success) return key.data;
  throw new ConfigError(
    'SIGNALBOX_MASTER_KEY',
    `the file ${path} does not hold 32 bytes of base64. Restore it from a backup.`,
  );
}

function readOrMakeKey(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    // Another process was first: its key is the key.
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/**
 * As mkdir with `recursive`, which tries for ever where a file system such as /proc takes no folders: it makes the parent,
 * which is there, and tries again.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  let at = folder;
  while (statSync(at, { throwIfNoEntry: false }) === undefined && dirname(at) !== at) {
    missing.unshift(at);
    at = dirname(at);
  }
  if (!statSync(at).isDirectory())
    throw Object.assign(new Error('Not a folder'), { code: at === folder ? 'EEXIST' : 'ENOTDIR' });
  for (const one of missing) {
    try {
      mkdirSync(one, { mode: 0o700 });
    } catch (error) {
      // Another process was first.
      if (statSync(one, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    }
  }
}
