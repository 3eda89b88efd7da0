/** Calls the gateway that the settings or the data folder name. Every refusal becomes a CliError. */

import { runningStack } from '#stacks';
import { readHostConfig } from '../config/host-config.ts';
import type { Problem } from '../definition/document/types.ts';
import type { Method } from '../gateway/http/method.ts';
import type { Json } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { connectionError } from './connection-error.ts';
import { CliError, EXIT, RetryableCliError } from './exit.ts';
import type { Answer, ParamsOf, PathOf } from './gateway-answers.ts';
import { problemLine } from './problem-lines.ts';
import type { Terminal } from './terminal.ts';

const REQUEST_TIMEOUT_MS = 30_000;
/** The variable that holds the API key. */
const KEY_VARIABLE = 'SIGNALBOX_API_KEY';
const EMPTY_STREAM: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

export interface GatewayCall {
  /** By the names in the path. */
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string | undefined };
  readonly json?: Json;
  /** The text of a document in JSON or YAML. */
  readonly document?: string;
  /** The format of `document`. JSON is also YAML, but a kept text remembers its format. Default: yaml. */
  readonly media?: 'json' | 'yaml';
  /** By lower-case name. */
  readonly headers?: { readonly [name: string]: string };
  /** Additional time for the answer. */
  readonly waitSeconds?: number;
}

/** Where a gateway is, and the key for it. */
interface GatewayAddress {
  /** No slash at the end. */
  readonly url: string;
  readonly key?: string | undefined;
  /** The variable that holds the key, for messages. */
  readonly keyVariable: string;
}

export interface Gateway {
  readonly url: string;
  /**
   * `path` is that of a route, such as `/api/workflows/:slug`.
   * @throws CliError if nothing answers, or the answer is a problem
   */
  call<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    ...call: [ParamsOf<Path>] extends [never]
      ? [call?: GatewayCall]
      : [call: GatewayCall & { readonly params: { readonly [Name in ParamsOf<Path>]: string } }]
  ): Promise<Answer<M, Path>>;
  /** A stream of Server-Sent Events after the event `seen`. @throws CliError as `call` */
  open(
    path: string,
    stream: { readonly signal: AbortSignal; readonly seen?: string },
  ): Promise<AsyncIterable<Uint8Array>>;
}

export function gatewayOf({ env }: Terminal): Gateway {
  return gatewayAt({ url: gatewayUrl(env), key: env[KEY_VARIABLE], keyVariable: KEY_VARIABLE });
}

export function gatewayAt(address: GatewayAddress): Gateway {
  const { url } = address;
  return {
    url,
    call: async <M extends Method, Path extends string>(method: M, path: Path, call: GatewayCall = {}) => {
      const response = await send(address, method, path, call);
      const body = await bodyOf(response, address);
      if (!response.ok) throw problemError(response.status, body, address);
      const etag = response.headers.get('etag') ?? undefined;
      // The gateway answers what its routes declare; it may be a later one, which answers more.
      return { status: response.status, body, ...omitUndefined({ etag }) } as Answer<M, Path>;
    },
    open: async (path, { signal, seen }) => {
      const headers = { accept: 'text/event-stream', ...omitUndefined({ 'last-event-id': seen }) };
      const response = await fetchWithKey(address, path, { headers, signal });
      if (!response.ok) throw problemError(response.status, await bodyOf(response, address), address);
      return response.body ?? EMPTY_STREAM;
    },
  };
}

/**
 * SIGNALBOX_URL, then SIGNALBOX_PORT, then the gateway of the stack on the data folder. If SIGNALBOX_DATA names a
 * folder without a stack, the call is refused and does not go to another gateway.
 */
function gatewayUrl(env: NodeJS.ProcessEnv): string {
  const { url, host, port, dataDir } = readHostConfig(env);
  if (url !== undefined) return url;
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  const byAddress = `http://${connectableHost(host)}:${port}`;
  if (isSet('SIGNALBOX_PORT') && port !== 0) return byAddress;
  const recordedUrl = runningStack(dataDir)?.gateway?.url;
  if (recordedUrl !== undefined) return recordedUrl;
  if (port !== 0 && (isSet('SIGNALBOX_HOST') || !isSet('SIGNALBOX_DATA'))) return byAddress;
  throw new CliError(
    EXIT.input,
    `No stack runs on ${dataDir}. Start one with npm start, or set SIGNALBOX_URL or SIGNALBOX_PORT to the ` +
      `gateway's address.`,
  );
}

/** A wildcard address is replaced by a loopback address. */
function connectableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

async function send(address: GatewayAddress, method: string, path: string, call: GatewayCall): Promise<Response> {
  const { json, document, media = 'yaml', headers, waitSeconds = 0 } = call;
  return fetchWithKey(address, pathWithParams(path, call), {
    method,
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(document === undefined ? {} : { 'content-type': `application/${media}` }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...omitUndefined({ body: document }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS + waitSeconds * 1000),
  });
}

/** The path with its parameters and its query. */
export function pathWithParams(
  path: string,
  { params = {}, query = {} }: Pick<GatewayCall, 'params' | 'query'>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, value);
  const address = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return search.size === 0 ? address : `${address}?${search}`;
}

/** Sends the request with the key. A redirect is refused: the key is for this address only. */
async function fetchWithKey(address: GatewayAddress, path: string, init: RequestInit): Promise<Response> {
  const { url } = address;
  let response: Response;
  try {
    const headers = { ...(init.headers as Record<string, string>), ...authorization(address) };
    response = await fetch(`${url}${path}`, { ...init, headers, redirect: 'manual' });
  } catch (error) {
    throw connectionError(url, error);
  }
  if (response.status >= 300 && response.status < 400) throw redirectError(url, path, response);
  return response;
}

function redirectError(url: string, path: string, response: Response): CliError {
  const location = response.headers.get('location');
  const target = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const place = target === undefined ? '' : ` to ${target.origin}${target.pathname}`;
  const wanted = path.split('?', 1)[0] ?? path;
  const advice =
    target?.pathname.endsWith(wanted) === true
      ? ` Set the address to ${target.origin}${target.pathname.slice(0, -wanted.length)}.`
      : '';
  return new CliError(
    EXIT.input,
    `${url} redirects${place}. Redirects are not followed, because the API key is for this address only.${advice}`,
  );
}

function authorization({ key }: GatewayAddress): { authorization?: string } {
  return key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` };
}

async function bodyOf(response: Response, { url, keyVariable }: GatewayAddress): Promise<Json> {
  const text = await response.text();
  if (text === '') return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    if (response.status === 401 || response.status === 403)
      throw new CliError(
        EXIT.input,
        `${url} refuses the request (${response.status}), and not as a Signalbox gateway does: a proxy before it may ` +
          `ask for other credentials than the key in ${keyVariable}.`,
      );
    throw new CliError(
      EXIT.input,
      `The server at ${url} is not a Signalbox gateway. Set SIGNALBOX_URL to the address of one.`,
    );
  }
}

/** A problem (RFC 9457) as a CliError. */
function problemError(status: number, body: Json, address: GatewayAddress): CliError {
  const { detail, code, problems } = (body ?? {}) as { detail?: string; code?: string; problems?: readonly Problem[] };
  const detailText = detail ?? `The gateway at ${address.url} answered with status ${status}.`;
  const message = keyAdvice(code, detailText, address) ?? detailText;
  const Refusal = status === 503 || status === 429 ? RetryableCliError : CliError;
  return new Refusal(
    status >= 500 && status !== 503 ? EXIT.internal : EXIT.input,
    code === undefined ? message : `${message} (${code})`,
    (problems ?? []).map((problem) => problemLine('error', problem)),
    code,
  );
}

/** The gateway does not know how the command line gets its key. */
function keyAdvice(code: string | undefined, said: string, { url, keyVariable }: GatewayAddress): string | undefined {
  switch (code) {
    case 'key_required':
      return `The gateway at ${url} requires an API key. Set ${keyVariable} to your key.`;
    case 'key_invalid':
      return `The gateway at ${url} does not accept this API key. It is wrong, or was revoked. Check ${keyVariable}.`;
    case 'role_required':
      return `${said} The command line reads its key from ${keyVariable}.`;
    default:
      return undefined;
  }
}
