import { isAbsolute, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
const OVERFLOW_POLICIES = ['queue', 'reject', 'cancel-oldest', 'cancel-newest'] as const;

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `expected a whole number from ${min} to ${max}.`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected a whole number from ${min} to ${max}.`);

/** `off`, `on` for the default number, or a number. */
const limitOf = (defaultLimit: number) =>
  z
    .string()
    .regex(/^(on|off|[1-9]\d{0,5})$/, `expected off, on (which is ${defaultLimit}), or a number from 1 to 999999.`)
    .transform((text) => (text === 'off' ? undefined : text === 'on' ? defaultLimit : Number(text)))
    .optional();

const listOf = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

export const masterKeyText = z.string().transform((text, context) => {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length === 32) return new Uint8Array(bytes);
  context.addIssue('expected 32 bytes as base64 or hex. Create a key with `openssl rand -base64 32`.');
  return z.NEVER;
});

/** The schema of all environment variables. The manual shows their descriptions. */
export const SETTINGS = z.object({
  SIGNALBOX_PORT: wholeNumber(0, 65_535).default(8787).describe('The port of the gateway; 0 picks a free one.'),
  SIGNALBOX_HOST: z
    .string()
    .refine((host) => !host.includes('/'), {
      error:
        'expected an address or a host name, such as 127.0.0.1, not a URL. To reach a gateway by its URL, set ' +
        'SIGNALBOX_URL.',
      abort: true,
    })
    .regex(/^[A-Za-z0-9.:_-]+$/, 'expected an address or a host name, such as 127.0.0.1.')
    .default('127.0.0.1')
    .describe('The interface that the gateway listens on. Without API keys it must be a loopback address.'),
  SIGNALBOX_URL: z
    .url({ protocol: /^https?$/, error: 'expected an http or https URL, such as https://signalbox.example.com.' })
    .refine((url) => !/[@?#]/.test(url), {
      error:
        'expected a URL without user, password, query and fragment. The command line reads its key from ' +
        'SIGNALBOX_API_KEY.',
    })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('The URL of the gateway for the command line. It overrides SIGNALBOX_HOST and SIGNALBOX_PORT.'),
  SIGNALBOX_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'expected an http or https URL, such as https://signalbox.example.com.' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('The URL of the gateway for callers, if it differs from host and port.'),
  SIGNALBOX_DATA: z
    .string()
    .default('.signalbox')
    .describe('The data folder of the local stack: database, logs, master key.'),
  SIGNALBOX_MASTER_KEY: masterKeyText
    .optional()
    .describe(
      '32 bytes as base64 or hex, which encrypt secrets and sign tokens. Without it a key is created in the ' +
        'data folder.',
    ),
  SIGNALBOX_FORMER_MASTER_KEYS: z
    .string()
    .transform(listOf)
    .pipe(z.array(masterKeyText))
    .default([])
    .describe(
      'Earlier master keys, the latest first, separated by commas. They still decrypt and verify. `signalbox ' +
        'keys reseal` encrypts everything with the current key.',
    ),
  SIGNALBOX_ADMIN_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{32,200}$/, 'expected 32 to 200 visible characters. Create a key with `openssl rand -hex 32`.')
    .optional()
    .describe(
      "An admin's API key that is not stored. With it the gateway may listen on other interfaces before any " +
        'key is created.',
    ),
  SIGNALBOX_CODEC: z
    .enum(['0', '1'], { error: 'expected 1 (encrypt payloads) or 0.' })
    .default('0')
    .describe('1 encrypts all payloads in Temporal with the master key. Gateway and workers must use the same value.'),
  SIGNALBOX_UI_ORIGINS: z
    .string()
    .transform(listOf)
    .pipe(z.array(z.url({ protocol: /^https?$/, error: 'expected origins such as https://temporal.example.com.' })))
    .transform((urls) => urls.map((url) => new URL(url).origin))
    .default([])
    .describe(
      "Origins of Temporal Web UIs whose pages may call /codec, in addition to the stack's own; also those under " +
        "which a proxy serves the stack's own Web UI.",
    ),
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
    .describe("The folder of the host's own actions: JavaScript modules that export the result of `defineAction`."),
  SIGNALBOX_BASH: z
    .enum(['0', '1', 'unsafe'], { error: 'expected 1 (bash steps run in a sandbox), unsafe (without a sandbox) or 0.' })
    .default('0')
    .describe('1 allows bash steps in a sandbox (bubblewrap); unsafe runs them as the user of the worker.'),
  SIGNALBOX_BASH_FOLDERS: z
    .string()
    .transform(listOf)
    .refine((folders) => folders.every((folder) => isAbsolute(folder)), {
      error: 'expected absolute paths separated by commas, such as /srv/repositories.',
    })
    .default([])
    .describe('Folders of the worker in which bash steps may run and write.'),
  SIGNALBOX_MCP_STDIO: z
    .enum(['0', '1'], { error: 'expected 1 (workers may start programs as MCP servers) or 0.' })
    .default('0')
    .describe('1 allows MCP servers that are programs, which workers start.'),
  SIGNALBOX_MCP_COMMANDS: z
    .string()
    .transform((text) =>
      text
        .split(/[,\n]/)
        .map((line) => line.split(/\s+/).filter((part) => part !== ''))
        .filter((parts) => parts.length > 0),
    )
    .refine((lines) => lines.every(([command]) => command !== '*'), {
      error: 'expected command lines separated by commas, such as /opt/mcp/files --read-only, /opt/mcp/search *.',
    })
    .default([])
    .describe(
      'Command lines, separated by commas, that MCP servers of every organization may use; a final `*` allows ' +
        'any further arguments. Only admins of the organization `default` may use others.',
    ),
  SIGNALBOX_RATE_ADDRESS: wholeNumber(0, 1_000_000)
    .default(100)
    .describe('Requests per second from one address to webhooks, callbacks and public triggers; 0 means no limit.'),
  SIGNALBOX_RATE_ADDRESS_BURST: wholeNumber(1, 10_000_000)
    .default(1_000)
    .describe('The burst: how many of these requests may arrive at the same time.'),
  SIGNALBOX_RATE_KEY: wholeNumber(0, 1_000_000)
    .default(1_000)
    .describe('Requests per second with one API key; 0 means no limit.'),
  SIGNALBOX_RATE_KEY_BURST: wholeNumber(1, 10_000_000)
    .default(3_000)
    .describe('The burst: how many of these requests may arrive at the same time.'),
  SIGNALBOX_RATE_ORGANIZATION: wholeNumber(0, 1_000_000)
    .default(1_000)
    .describe('Requests per second with all API keys of one organization; 0 means no limit.'),
  SIGNALBOX_RATE_ORGANIZATION_BURST: wholeNumber(1, 10_000_000)
    .default(3_000)
    .describe('The burst: how many of these requests may arrive at the same time.'),
  SIGNALBOX_TRUSTED_PROXIES: z
    .string()
    .transform(listOf)
    .refine((ranges) => ranges.every((range) => ipaddr.isValid(range) || ipaddr.isValidCIDR(range)), {
      error: 'expected addresses or CIDRs separated by commas, such as 10.0.0.0/8.',
    })
    .default([])
    .describe(
      "Addresses of proxies whose X-Forwarded-For is trusted for the callers' addresses, which rate limits use.",
    ),
  SIGNALBOX_HTTP_ALLOW: z
    .string()
    .transform(listOf)
    .refine((ranges) => ranges.every((range) => ipaddr.isValidCIDR(range)), {
      error: 'expected CIDRs separated by commas, such as 10.0.0.0/8,192.168.1.7/32.',
    })
    .default([])
    .describe('CIDRs of private addresses that http steps may reach.'),
  SIGNALBOX_OWN_PORTS: z
    .string()
    .regex(/^[\d, ]*$/, 'expected port numbers separated by commas.')
    .transform((text) => listOf(text).map(Number))
    .default([])
    .describe('Ports of this stack on this machine, which http steps may never reach; `start` sets them.'),
  SIGNALBOX_BLOBS: z
    .string()
    .optional()
    .describe(
      'Where payloads over 256 KB are stored, for gateway and workers: a folder that they share, or a bucket as ' +
        '`s3://bucket/prefix?region=name`, with `&endpoint=https://host` for servers other than AWS and with ' +
        '`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` from the environment, or ' +
        'the role of the pod or task; `off` stores them in Temporal. Default: `blobs` in the data folder.',
    ),
  SIGNALBOX_SMTP_URL: z
    .url({
      protocol: /^smtps?$/,
      error: 'expected smtp:// or smtps://, such as smtp://user:password@mail.example.com:587.',
    })
    .optional()
    .describe(
      'The SMTP server for e-mails of steps that set none; `?encryption=none` allows a password without TLS. ' +
        'Its address may be private.',
    ),
  SIGNALBOX_MAIL_FROM: z
    .string()
    .max(320, 'expected an e-mail address.')
    .regex(/^[^@]+@[^@\s]+$/, 'expected an e-mail address, such as Signalbox <signalbox@example.com>.')
    .optional()
    .describe("The sender of e-mails over the host's SMTP server."),
  SIGNALBOX_MAIL_FROM_ALLOW: z
    .string()
    .transform((text) => listOf(text.toLowerCase()))
    .pipe(
      z.array(
        z.string().regex(/^(\*|(\*|[^@\s]+)@[^@\s]+)$/, 'expected addresses, *@domain or *, separated by commas.'),
      ),
    )
    .optional()
    .describe(
      "Further senders that steps may set in `from` over the host's SMTP server: addresses, *@domain, or *, " +
        'separated by commas.',
    ),
  SIGNALBOX_TEMPORAL_PORT: wholeNumber(1, 65_535)
    .optional()
    .describe(
      'The port of the Temporal server that `start` runs; `start` fails if it is taken. Default: the previous ' +
        'port, then 7233, then a free one.',
    ),
  SIGNALBOX_UI_PORT: wholeNumber(1, 65_535)
    .optional()
    .describe("The port of that server's Web UI. Default: the previous port, then 8233, then a free one."),
  SIGNALBOX_UI: z
    .enum(['0', '1'], { error: 'expected 1 (the Web UI is open also while there are API keys) or 0 (no Web UI).' })
    .optional()
    .describe(
      'The Web UI of the Temporal server that `start` runs requires no key: everybody who reaches it on this machine ' +
        'sees and starts all runs. Default: it is closed as soon as there are API keys. 1 leaves it open; 0 starts ' +
        'the server without it.',
    ),
  SIGNALBOX_LOG_LEVEL: z
    .enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}.` })
    .default('info')
    .describe('The least level of lines in the logs of gateway and worker; debug adds each attempt of a step.'),
  SIGNALBOX_WORKER_VERSIONING: z
    .enum(['0', '1', 'manual'], {
      error: 'expected 1 (the newest version gets the tasks), manual (an operator chooses the version) or 0.',
    })
    .default('0')
    .describe(
      '1 makes the workers versions of a Worker Deployment in Temporal: tasks go to the newest version; manual: to ' +
        'the version that an operator makes current. It has no effect on a stack that runs its own Temporal server.',
    ),
  SIGNALBOX_SDK_PATCHES: z
    .enum(['0', '1'], { error: "expected 1 (Temporal's SDK is changed where that saves work) or 0." })
    .default('1')
    .describe(
      "0 leaves Temporal's SDK as it is: runs take more processor time, a workflow task may compute for 5 s and not " +
        'for 30, and steps do not wait for a store of large data that cannot deliver their input. It shows whether a ' +
        'fault comes from what Signalbox changes in the SDK. Set it for gateway and workers; it may be switched at ' +
        'any time.',
    ),
  SIGNALBOX_WORKER_PORT: wholeNumber(0, 65_535)
    .optional()
    .describe(
      'The port on which a worker serves /health, /ready and /metrics, without keys; 0 picks a free one. Default: ' +
        'none.',
    ),
  SIGNALBOX_WORKER_HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]+$/, 'expected an address or a host name, such as 0.0.0.0.')
    .default('127.0.0.1')
    .describe('The interface of that port.'),
  SIGNALBOX_LIMIT_USER: limitOf(5).describe(
    'The limit of concurrent runs of one user: off, on (5), or a number. Default: off.',
  ),
  SIGNALBOX_LIMIT_ORGANIZATION: limitOf(50).describe(
    'The limit of concurrent runs of one organization: off, on (50), or a number. Default: off.',
  ),
  SIGNALBOX_LIMIT_GLOBAL: limitOf(50).describe(
    'The limit of all concurrent runs: off, on (50), or a number. Default: off.',
  ),
  SIGNALBOX_LIMIT_OVERFLOW: z
    .enum(OVERFLOW_POLICIES, { error: `expected one of ${OVERFLOW_POLICIES.join(', ')}.` })
    .default('queue')
    .describe('What happens to runs over these limits: queue, reject, cancel-oldest or cancel-newest.'),
  SIGNALBOX_RETENTION_DAYS: wholeNumber(1, 3_650).default(30).describe('How many days Temporal keeps closed runs.'),
});
