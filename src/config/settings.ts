import { isAbsolute, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

export const OVERFLOWS = ['queue', 'reject', 'cancel-oldest', 'cancel-newest'] as const;

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

export const masterKeyText = z.string().transform((text, context) => {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length === 32) return new Uint8Array(bytes);
  context.addIssue('expected 32 bytes as base64 or hex; make one with `openssl rand -base64 32`.');
  return z.NEVER;
});

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
  SIGNALBOX_MASTER_KEY: masterKeyText
    .optional()
    .describe(
      '32 bytes as base64 or hex, which encrypt secrets and sign tokens. Without it one is made, and kept in the data folder.',
    ),
  SIGNALBOX_FORMER_MASTER_KEYS: z
    .string()
    .transform(listOf)
    .pipe(z.array(masterKeyText))
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
