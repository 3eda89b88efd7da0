/** Requests to the API. Every request of a page goes through here. */
import { reportReachable, reportUnreachable } from './connection.ts';
import { ApiProblem, parseProblem, UNREACHABLE } from './problem.ts';

/** The header that the gateway requires of browser requests that change something. */
const CONSOLE_HEADER = { 'X-Signalbox-Console': '1' };
/** Statuses with which a proxy reports that the gateway is unavailable. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([502, 504]);

type Params = { readonly [name: string]: string | number | boolean | undefined };

export interface RequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly rawBody?: { readonly media: string; readonly text: string };
  /** Members that are undefined or empty are left out. */
  readonly query?: Params;
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

interface ApiResponse<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

let loggedOutListener: () => void = () => undefined;

/** Called when the API answers that a login is required. */
export function onLoggedOut(listener: () => void): void {
  loggedOutListener = listener;
}

/** An API path with its parts URL-encoded: `` apiPath`/api/executions/${id}` ``. */
export const apiPath = (texts: TemplateStringsArray, ...parts: readonly string[]): string =>
  texts.map((text, index) => text + (index < parts.length ? encodeURIComponent(parts[index] ?? '') : '')).join('');

export function withQuery(path: string, query: Params = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (set.length === 0) return path;
  return `${path}?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}

/**
 * Sends a request and returns the full response.
 * @throws ApiProblem for an error response, with the code `unreachable` if nothing answers; the abort error of
 *   `signal`.
 */
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse<T>> {
  const { body, rawBody, query, headers, signal } = options;
  const media = rawBody?.media ?? (body === undefined ? undefined : 'application/json');
  const payload = rawBody?.text ?? (body === undefined ? undefined : JSON.stringify(body));
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
      body: payload ?? null,
      signal: signal ?? null,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    reportUnreachable();
    throw new ApiProblem({ status: 0, code: UNREACHABLE, detail: 'The gateway cannot be reached.' });
  }
  if (UNAVAILABLE_STATUSES.has(response.status)) reportUnreachable();
  else reportReachable();
  if (!response.ok) {
    const problem = parseProblem(response.status, text, response.headers.get('x-request-id') ?? undefined);
    if (problem.status === 401 && path !== '/api/session') loggedOutListener();
    throw problem;
  }
  return { status: response.status, headers: response.headers, body: parseBody(text, response.headers) as T };
}

/** Reads. @throws as request. */
export const get = async <T>(path: string, options: Omit<RequestOptions, 'body'> = {}): Promise<T> =>
  (await request<T>('GET', path, options)).body;

/** Changes. @throws as request. */
export const post = async <T>(path: string, body?: unknown, options: Omit<RequestOptions, 'body'> = {}): Promise<T> =>
  (await request<T>('POST', path, { ...options, body })).body;

/** @throws as request. */
export const put = async <T>(path: string, body: unknown, options: Omit<RequestOptions, 'body'> = {}): Promise<T> =>
  (await request<T>('PUT', path, { ...options, body })).body;

/** @throws as request. */
export const patch = async <T>(path: string, body: unknown, options: Omit<RequestOptions, 'body'> = {}): Promise<T> =>
  (await request<T>('PATCH', path, { ...options, body })).body;

/** @throws as request. */
export const remove = async (path: string, options: Omit<RequestOptions, 'body'> = {}): Promise<void> => {
  await request('DELETE', path, options);
};

function parseBody(text: string, headers: Headers): unknown {
  if (text === '') return undefined;
  return /json/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}
