/** Requests to the API. Every request of a page goes through here. */
import { noteLost, noteReached } from './connection.ts';
import { ApiProblem, problemIn, UNREACHABLE } from './problem.ts';

/** What the gateway demands of a browser that changes something. */
const CONSOLE_HEADER = { 'X-Signalbox-Console': '1' };
/** Statuses with which a proxy says that the gateway is away. */
const AWAY: ReadonlySet<number> = new Set([502, 504]);

type Params = { readonly [name: string]: string | number | boolean | undefined };

export interface Options {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of a body. */
  readonly written?: { readonly media: string; readonly text: string };
  /** Members that are undefined or empty are left out. */
  readonly query?: Params;
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

let whenLoggedOut: () => void = () => undefined;

/** What happens when the API asks for a login. */
export function onLoggedOut(listener: () => void): void {
  whenLoggedOut = listener;
}

/** The address of the API with its parts encoded: `` at`/api/executions/${id}` ``. */
export const at = (texts: TemplateStringsArray, ...parts: readonly string[]): string =>
  texts.map((text, index) => text + (index < parts.length ? encodeURIComponent(parts[index] ?? '') : '')).join('');

export function withQuery(path: string, query: Params = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (set.length === 0) return path;
  return `${path}?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}

/**
 * Sends a request, and returns the whole answer.
 * @throws ApiProblem for a refusal, and `unreachable` where nothing answers; what `signal` throws when it aborts.
 */
export async function request<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  const { body, written, query, headers, signal } = options;
  const media = written?.media ?? (body === undefined ? undefined : 'application/json');
  const sent = written?.text ?? (body === undefined ? undefined : JSON.stringify(body));
  let response: Response;
  let text: string;
  try {
    response = await fetch(withQuery(path, query), {
      method,
      cache: 'no-store',
      headers: {
        Accept: 'application/json',
        ...(method === 'GET' ? {} : CONSOLE_HEADER),
        ...(media === undefined ? {} : { 'Content-Type': media }),
        ...headers,
      },
      body: sent ?? null,
      signal: signal ?? null,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    noteLost();
    throw new ApiProblem({ status: 0, code: UNREACHABLE, detail: 'The gateway cannot be reached.' });
  }
  if (AWAY.has(response.status)) noteLost();
  else noteReached();
  if (!response.ok) {
    const problem = problemIn(response.status, text, response.headers.get('x-request-id') ?? undefined);
    if (problem.status === 401 && path !== '/api/session') whenLoggedOut();
    throw problem;
  }
  return { status: response.status, headers: response.headers, body: bodyOf(text, response.headers) as T };
}

/** Reads. @throws as request. */
export const get = async <T>(path: string, options: Omit<Options, 'body'> = {}): Promise<T> =>
  (await request<T>('GET', path, options)).body;

/** Changes. @throws as request. */
export const post = async <T>(path: string, body?: unknown, options: Omit<Options, 'body'> = {}): Promise<T> =>
  (await request<T>('POST', path, { ...options, body })).body;

/** @throws as request. */
export const put = async <T>(path: string, body: unknown, options: Omit<Options, 'body'> = {}): Promise<T> =>
  (await request<T>('PUT', path, { ...options, body })).body;

/** @throws as request. */
export const patch = async <T>(path: string, body: unknown, options: Omit<Options, 'body'> = {}): Promise<T> =>
  (await request<T>('PATCH', path, { ...options, body })).body;

/** @throws as request. */
export const remove = async (path: string, options: Omit<Options, 'body'> = {}): Promise<void> => {
  await request('DELETE', path, options);
};

function bodyOf(text: string, headers: Headers): unknown {
  if (text === '') return undefined;
  return /json/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}
