/** Calls the gateway that the settings or the data folder name. Every refusal becomes a CliError. */

import { runningStack } from '#stacks';
import { readConfig } from '../config/config.ts';
import type { Problem } from '../definition/document/types.ts';
import { defined } from '../json/defined.ts';
import type { Json } from '../json/json.ts';
import { CliError, EXIT, TemporaryError } from './exit.ts';
import { problemLine } from './problem-lines.ts';
import type { Terminal } from './terminal.ts';

const PATIENCE_MS = 30_000;
/** Refusals that another key solves. The gateway does not know how the command line gets its key. */
const KEY_CODES: ReadonlySet<string> = new Set(['key_required', 'key_invalid', 'role_required']);
const NOTHING: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

export interface Call {
  readonly json?: Json;
  /** The text of a document in JSON or YAML. */
  readonly document?: string;
  /** Additional time for the answer. */
  readonly waitSeconds?: number;
}

export interface GatewayAnswer<T> {
  readonly status: number;
  readonly body: T;
}

export interface Gateway {
  readonly url: string;
  /** @throws CliError if nothing answers, or the answer is a problem */
  call<T>(method: string, path: string, call?: Call): Promise<GatewayAnswer<T>>;
  /** A stream of Server-Sent Events after the event `seen`. @throws CliError as `call` */
  open(
    path: string,
    stream: { readonly signal: AbortSignal; readonly seen?: string },
  ): Promise<AsyncIterable<Uint8Array>>;
}

export function gatewayOf({ env }: Terminal): Gateway {
  const url = gatewayUrl(env);
  return {
    url,
    call: async <T>(method: string, path: string, call: Call = {}) => {
      const response = await send(url, method, path, call, env);
      const body = await bodyOf(response, url);
      if (!response.ok) throw refusal(response.status, body);
      return { status: response.status, body: body as T };
    },
    open: async (path, { signal, seen }) => {
      const headers = { accept: 'text/event-stream', ...defined({ 'last-event-id': seen }) };
      const response = await asked(url, () =>
        fetch(`${url}${path}`, { headers: { ...headers, ...keyOf(env) }, signal }),
      );
      if (!response.ok) throw refusal(response.status, await bodyOf(response, url));
      return response.body ?? NOTHING;
    },
  };
}

/**
 * SIGNALBOX_URL, then SIGNALBOX_PORT, then the gateway of the stack on the data folder. If SIGNALBOX_DATA names a
 * folder without a stack, the call is refused and does not go to another gateway.
 */
function gatewayUrl(env: NodeJS.ProcessEnv): string {
  const { url, host, port, dataDir } = readConfig(env);
  if (url !== undefined) return url;
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  const byAddress = `http://${reachable(host)}:${port}`;
  if (isSet('SIGNALBOX_PORT') && port !== 0) return byAddress;
  const noted = runningStack(dataDir)?.gateway?.url;
  if (noted !== undefined) return noted;
  if (port !== 0 && (isSet('SIGNALBOX_HOST') || !isSet('SIGNALBOX_DATA'))) return byAddress;
  throw new CliError(
    EXIT.input,
    `No stack runs on ${dataDir}. Start one with npm start, or set SIGNALBOX_URL or SIGNALBOX_PORT to the ` +
      `gateway's address.`,
  );
}

/** A wildcard address is replaced by a loopback address. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

async function send(url: string, method: string, path: string, call: Call, env: NodeJS.ProcessEnv): Promise<Response> {
  const { json, document, waitSeconds = 0 } = call;
  return asked(url, () =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(document === undefined ? {} : { 'content-type': 'application/yaml' }),
        ...keyOf(env),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...defined({ body: document }),
      signal: AbortSignal.timeout(PATIENCE_MS + waitSeconds * 1000),
    }),
  );
}

async function asked(url: string, ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const distrust = certificateCode(error);
    if (distrust !== undefined)
      throw new CliError(
        EXIT.input,
        `The certificate of ${url} is not trusted (${distrust}). Set NODE_EXTRA_CA_CERTS to the file of its authority.`,
      );
    throw new TemporaryError(
      EXIT.input,
      isLate
        ? `The gateway at ${url} did not answer in time. Check its log, logs/gateway.log in the data folder.`
        : `No gateway answers at ${url}. Start one with npm start, or set SIGNALBOX_URL to its address.`,
    );
  }
}

/** Node's code for an untrusted certificate. */
function certificateCode(error: unknown): string | undefined {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code) ? code : undefined;
}

function keyOf(env: NodeJS.ProcessEnv): { authorization?: string } {
  const key = env['SIGNALBOX_API_KEY'];
  return key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` };
}

async function bodyOf(response: Response, url: string): Promise<Json> {
  const text = await response.text();
  if (text === '') return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new CliError(
      EXIT.input,
      `The server at ${url} is not a Signalbox gateway. Set SIGNALBOX_URL to the address of one.`,
    );
  }
}

/** A problem (RFC 9457) as a CliError. */
function refusal(status: number, body: Json): CliError {
  const { detail, code, problems } = (body ?? {}) as { detail?: string; code?: string; problems?: readonly Problem[] };
  const said = detail ?? `The gateway answered with status ${status}.`;
  const message = KEY_CODES.has(code ?? '') ? `${said} The command line reads its key from SIGNALBOX_API_KEY.` : said;
  const Refusal = status === 503 || status === 429 ? TemporaryError : CliError;
  return new Refusal(
    status >= 500 && status !== 503 ? EXIT.broken : EXIT.input,
    code === undefined ? message : `${message} (${code})`,
    (problems ?? []).map((problem) => problemLine('error', problem)),
  );
}
